/**
 * Puzzles for miners elsewhere. Whoever has a puzzle can find its address, and knows the secret of that one address; the key,
 * the seed and every other address stay where they are.
 */
import { type ChallengeNonce, parseAddress, parseChallengeNonce, SvcError } from '@svc-zerc20/protocol'
import { deriveBurn, hexOf, type MinedAddress, type PowPuzzle } from '@svc-zerc20/zk'
import * as z from 'zod'
import type { ReadyAddress } from '../payment/ports.js'
import type { AddressEpoch } from '../payment/records.js'
import type { AddressTerms } from './address-maker.js'

export type Puzzle = PowPuzzle & { readonly challengeNonce: ChallengeNonce; readonly epoch?: AddressEpoch }

/** Throws when the terms can make no address at all. */
export function createPuzzle(deps: {
  readonly terms: AddressTerms
  readonly random: { bytes(length: number): Uint8Array }
  readonly nowMs: number
  readonly epochAt?: ((nowMs: number) => AddressEpoch) | undefined
}): Puzzle {
  const challengeNonce = hexOf(deps.random.bytes(32)) as ChallengeNonce
  const epoch = deps.epochAt && { epoch: deps.epochAt(deps.nowMs) }
  const { generation, powBits, recipientHash, baseSecret } = deriveBurn({
    ...deps.terms,
    challengeNonce,
    ...epoch,
  })
  return { challengeNonce, generation, powBits, recipientHash, baseSecret, ...epoch }
}

/** A line of a file of puzzles. */
export const printPuzzle = ({ recipientHash, baseSecret, ...rest }: Puzzle): string =>
  JSON.stringify({ ...rest, recipientHash: `${recipientHash}`, baseSecret: `${baseSecret}` })

const number = z
  .string()
  .regex(/^(?:0|[1-9]\d{0,77})$/)
  .transform((text) => BigInt(text))
const form = z.strictObject({
  challengeNonce: z.string().transform((text, context) => {
    const nonce = parseChallengeNonce(text)
    if (nonce === undefined) context.addIssue('no nonce')
    return nonce as ChallengeNonce
  }),
  generation: z.literal([1, 2]),
  powBits: z.int().min(0).max(32),
  recipientHash: number,
  baseSecret: number,
  epoch: z.strictObject({ ledger: z.string().regex(/^[0-9a-f]{32}$/), start: z.int().min(0) }).optional(),
})

/** Throws `SvcError('puzzle_invalid')`, without the line: it holds a secret. */
export function parsePuzzle(line: string): Puzzle {
  try {
    const { epoch, ...rest } = form.parse(JSON.parse(line))
    return { ...rest, ...(epoch && { epoch }) }
  } catch {
    throw new SvcError('puzzle_invalid', 'a line is no puzzle of `svc-facilitator puzzles`')
  }
}

/** The address as the ledger keeps it. A daemon derives it again before it hands it out. */
export function solvedBy({ challengeNonce, powBits, epoch }: Puzzle, mined: MinedAddress): ReadyAddress {
  const payTo = parseAddress(mined.payTo)
  if (!payTo) throw new SvcError('invariant', 'a mined address is no address')
  return { challengeNonce, payTo, powNonce: mined.powNonce, powBits, ...(epoch && { epoch }) }
}
