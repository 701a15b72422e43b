/** A statement with what it rests on, in one file: with it, the trust anchor is all that a verifier needs. */
import { Json } from '@svc-zerc20/protocol'
import { parseJson } from './encoding.js'
import { limits } from './limits.js'
import { StatementError } from './statement-error.js'

const format = 'svc-zerc20-statement/1'

export type StatementFile = {
  readonly statement: string
  /** Absent for a bare statement. */
  readonly manifest?: string
  readonly revocations?: string
}

export const toStatementFile = <F extends StatementFile>(file: F) => ({ format, ...file })

export const printStatementFile = (file: StatementFile): string =>
  `${JSON.stringify(toStatementFile(file), undefined, 2)}\n`

/** Reads a statement file, or the text of a bare statement. Throws `file_malformed`. */
export function parseStatementFile(text: string): StatementFile {
  if (text.length > limits.fileCharsMax) throw new StatementError('file_malformed', 'It is too large.')
  const bare = text.trim()
  if (!bare.startsWith('{')) return { statement: bare }
  const value = parseJson(bare)
  if (!Json.isObject(value) || value.format !== format) throw new StatementError('file_malformed')
  const { statement, manifest, revocations } = value
  if (typeof statement !== 'string') throw new StatementError('file_malformed')
  if (!isTextOrMissing(manifest) || !isTextOrMissing(revocations)) throw new StatementError('file_malformed')
  return {
    statement,
    ...(manifest !== undefined && { manifest }),
    ...(revocations !== undefined && { revocations }),
  }
}

const isTextOrMissing = (value: unknown): value is string | undefined =>
  value === undefined || typeof value === 'string'
