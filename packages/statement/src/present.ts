/** Passes a proof on with fewer disclosures. */
import { SvcError } from '@svc-zerc20/protocol'
import { ProofError } from './statement-error.js'
import { readSdJwt } from './read-sd-jwt.js'
import { sdJwt } from './sd-jwt.js'

/** The same proof with these claims and no others. Throws when it does not have one of them. */
export async function presentProof(proof: string, names: readonly string[]): Promise<string> {
  const { disclosures } = readSdJwt(proof)
  const present = disclosures.map(({ name }) => name)
  const missing = names.filter((name) => !present.includes(name))
  if (missing.length > 0) {
    throw new SvcError(
      'claim_missing',
      `the proof cannot disclose ${missing.join(', ')}; it can disclose ${present.join(', ') || 'nothing'}`,
    )
  }
  const presented = await sdJwt().present(proof, Object.fromEntries(names.map((name) => [name, true])))
  // What leaves here is looked at once more: no disclosure too many.
  const left = readSdJwt(presented).disclosures.map(({ name }) => name)
  if (left.some((name) => !names.includes(name))) throw new ProofError('proof_malformed')
  return presented
}
