import { readFileSync } from 'node:fs'
import type { Generation } from '../src/generation.js'
import type { Hex } from '../src/hex.js'

type Burn = {
  generation: Generation
  powBits: number
  powNonce: number
  secret: Hex
  burnAddress: Hex
}

type Vectors = {
  fieldPrime: string
  poseidon: { inputs: number[]; hash: Hex }[]
  emptyRoots: { height: number; root: Hex }[]
  hashChains: {
    generation: Generation
    transfers: { from: Hex; to: Hex; value: number }[]
    chain: Hex[]
    roots?: Hex[]
  }[]
  recipientHashes: { chainId: number; recipient: Hex; tweak: Hex; hash: Hex }[]
  puzzles: (Omit<Burn, 'secret'> & { recipientHash: number; baseSecret: number; secret: number })[]
  derivations: {
    kind: 'payment advice' | 'single invoice' | 'batch invoice'
    seed: Hex
    id: Hex
    chainId: number
    recipient: Hex
    base: Hex
    tweak: Hex
    recipientHash?: Hex
    burns: Burn[]
  }[]
  challenges: {
    treasuryKey: Hex
    seed: Hex
    challengeNonce: Hex
    chainId: number
    treasury: Hex
    generation: Generation
    powBits: number
    tweak: Hex
    recipientHash: Hex
    powNonce: number
    secret: Hex
    payTo: Hex
  }[]
}

/** The vectors that other languages can use too. */
export const vectors: Vectors = JSON.parse(
  readFileSync(new URL('../../../test/vectors/zerc20.json', import.meta.url), 'utf8'),
)
