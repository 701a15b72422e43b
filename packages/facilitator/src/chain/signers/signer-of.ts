/** Computes signers of ECDSA signatures. A thread can load this file without the rest of the daemon. */
import { bytesToHex } from '@noble/hashes/utils'
import { createRecover, keccak256, type Recovered } from '@svc-zerc20/kernel'
import { recover } from 'tiny-secp256k1'

/** The digest, r, s and the parity, as 97 bytes of hex without 0x: text goes to a thread quicker than bytes. */
export type SignerQuestion = string

/** Made with the first question, because most of the daemon asks none. */
let recoverAll: ReturnType<typeof createRecover> | undefined

/** For each, the address whose key made the signature, in lower case, or undefined when there is no such key. */
export function signersOf(questions: readonly SignerQuestion[]): (string | undefined)[] {
  recoverAll ??= createRecover()
  const keys = recoverAll(
    questions.map((question) => ({
      digest: BigInt(`0x${question.slice(0, 64)}`),
      r: BigInt(`0x${question.slice(64, 128)}`),
      s: BigInt(`0x${question.slice(128, 192)}`),
      isOdd: question.endsWith('1'),
    })),
  )
  return questions.map((question, i) => {
    const key = keys[i]
    const bytes = key === 'unsure' ? keyByLibrary(question) : bytesOf(key)
    return bytes && `0x${bytesToHex(keccak256(bytes).subarray(12))}`
  })
}

const bytesOf = (key: Exclude<Recovered, 'unsure'>): Uint8Array | undefined =>
  key && Buffer.from(`${toHex(key.x)}${toHex(key.y)}`, 'hex')

const toHex = (coordinate: bigint): string => coordinate.toString(16).padStart(64, '0')

/** Fallback for crafted signatures that hit the exceptional case of our point addition: libsecp256k1 handles it. */
function keyByLibrary(question: SignerQuestion): Uint8Array | undefined {
  const bytes = Buffer.from(question, 'hex')
  return recover(bytes.subarray(0, 32), bytes.subarray(32, 96), bytes[96] === 1 ? 1 : 0, false)?.subarray(1)
}
