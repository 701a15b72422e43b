/** Computes signers of ECDSA signatures from bytes. A thread can load this file without the rest of the daemon. */
import { keccak_256 } from '@noble/hashes/sha3'
import { recover } from 'tiny-secp256k1'

export type SignerQuestion = {
  readonly digest: Uint8Array
  /** r ‖ s */
  readonly compactSignature: Uint8Array
  readonly parity: 0 | 1
}

/** The 20 bytes of the address whose key made the signature, or undefined when there is no such key. */
export function signerOf({ digest, compactSignature, parity }: SignerQuestion): Uint8Array | undefined {
  try {
    const publicKey = recover(digest, compactSignature, parity, false)
    return publicKey ? keccak_256(publicKey.subarray(1)).subarray(12) : undefined
  } catch {
    // The library throws for r or s outside the group, which is simply a bad signature.
    return undefined
  }
}

/** Digest (32), r ‖ s (64), parity (1). */
const questionBytes = 97
/** 1 when there is an address (else 0), then its 20 bytes. */
const answerBytes = 21

/** Many questions as one message. */
export function pack(questions: readonly SignerQuestion[]): Uint8Array {
  const bytes = new Uint8Array(questions.length * questionBytes)
  for (const [i, { digest, compactSignature, parity }] of questions.entries()) {
    bytes.set(digest, i * questionBytes)
    bytes.set(compactSignature, i * questionBytes + 32)
    bytes[i * questionBytes + 96] = parity
  }
  return bytes
}

/** The answers to packed questions, as one message. */
export function answerAll(questions: Uint8Array): Uint8Array {
  const count = questions.length / questionBytes
  const answers = new Uint8Array(count * answerBytes)
  for (let i = 0; i < count; i++) {
    const question = questions.subarray(i * questionBytes, (i + 1) * questionBytes)
    const [digest, compactSignature] = [question.subarray(0, 32), question.subarray(32, 96)]
    const address = signerOf({ digest, compactSignature, parity: question[96] === 1 ? 1 : 0 })
    if (!address) continue
    answers[i * answerBytes] = 1
    answers.set(address, i * answerBytes + 1)
  }
  return answers
}

/** The answer to one of the questions. */
export function answerIn(answers: Uint8Array, i: number): Uint8Array | undefined {
  const answer = answers.subarray(i * answerBytes, (i + 1) * answerBytes)
  return answer[0] === 1 ? answer.subarray(1) : undefined
}
