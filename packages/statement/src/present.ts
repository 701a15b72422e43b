/** Passes a statement on with fewer disclosures. */
import { SvcError } from '@svc-zerc20/protocol'
import { readSdJwt } from './read-sd-jwt.js'
import { sdJwt } from './sd-jwt.js'
import { StatementError } from './statement-error.js'

/** The same statement with these claims and no others. Throws when it does not have one of them. */
export async function presentStatement(statement: string, names: readonly string[]): Promise<string> {
  const { disclosures } = readSdJwt(statement)
  const present = disclosures.map(({ name }) => name)
  const missing = names.filter((name) => !present.includes(name))
  if (missing.length > 0) {
    throw new SvcError(
      'claim_missing',
      `the statement cannot disclose ${missing.join(', ')}; it can disclose ${present.join(', ') || 'nothing'}`,
    )
  }
  const presented = await sdJwt().present(statement, Object.fromEntries(names.map((name) => [name, true])))
  // What leaves here is looked at once more: no disclosure too many.
  const left = readSdJwt(presented).disclosures.map(({ name }) => name)
  if (left.some((name) => !names.includes(name))) throw new StatementError('statement_malformed')
  return presented
}
