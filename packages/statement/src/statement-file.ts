/** A proof with what it rests on, in one file: with it, the trust anchor is all that a verifier needs. */
import { Json } from '@svc-zerc20/protocol'
import { parseJson } from './encoding.js'
import { limits } from './limits.js'
import { ProofError } from './statement-error.js'

const format = 'svc-zerc20-proof/1'

export type ProofFile = {
  readonly proof: string
  /** Absent for a bare proof. */
  readonly manifest?: string
  readonly revocations?: string
}

export const toProofFile = ({ proof, manifest, revocations }: ProofFile) => ({
  format,
  proof,
  manifest,
  revocations,
})

export const printProofFile = (file: ProofFile): string =>
  `${JSON.stringify(toProofFile(file), undefined, 2)}\n`

/** Reads a proof file, or the text of a bare proof. Throws `file_malformed`. */
export function parseProofFile(text: string): ProofFile {
  if (text.length > limits.fileCharsMax) throw new ProofError('file_malformed', 'It is too large.')
  const bare = text.trim()
  if (!bare.startsWith('{')) return { proof: bare }
  const value = parseJson(bare)
  if (!Json.isObject(value) || value.format !== format) throw new ProofError('file_malformed')
  const { proof, manifest, revocations } = value
  if (typeof proof !== 'string') throw new ProofError('file_malformed')
  if (!isTextOrMissing(manifest) || !isTextOrMissing(revocations)) throw new ProofError('file_malformed')
  return {
    proof,
    ...(manifest !== undefined && { manifest }),
    ...(revocations !== undefined && { revocations }),
  }
}

const isTextOrMissing = (value: unknown): value is string | undefined =>
  value === undefined || typeof value === 'string'
