/** The variables of the proof issuer: four that belong together, and those that refine them. */
import { resolve } from 'node:path'
import {
  type Environment,
  type HistoryVariable,
  proofTtlSecondsDefault,
  proofTtlSecondsMax,
} from '../environment.js'
import type { IssuerSettings } from '../history-settings.js'
import { isPath, nameOf, namesOf, pathOf, type Say } from './history-values.js'

/** Half an issuer fails, with or without a history: somebody meant to have proofs, and there would be none. */
export function examineIssuerGroup(
  env: Environment,
  directory: string,
  say: Say,
): IssuerSettings | undefined {
  const group = namesOf('issuer')
  const missing = group.filter((name) => !env[name])
  if (missing.length > 0) {
    if (missing.length < group.length) {
      for (const name of missing) {
        say(
          'fail',
          name,
          'not set, but a proof issuer needs its whole group; set it, or unset all of the group',
        )
      }
    }
    for (const name of namesOf('refinement').filter((name) => env[name])) {
      say('warn', name, `ignored: it refines a proof issuer, which needs ${missing.join(', ')}`)
    }
    return undefined
  }
  const [privateKeyPath, manifestPath, trustAnchorPath, artifactPath] = group.map((name) =>
    pathOf(env, name, directory, say),
  )
  const id = env.HISTORY_ISSUER_ID ? nameOf(env, 'HISTORY_ISSUER_ID', say) : undefined
  const keyId = env.HISTORY_ISSUER_KEY_ID ? nameOf(env, 'HISTORY_ISSUER_KEY_ID', say) : undefined
  const proofTtlSeconds = proofTtlOf(env, say)
  if (!privateKeyPath || !manifestPath || !trustAnchorPath || !artifactPath) return undefined
  return {
    ...{ privateKeyPath, manifestPath, trustAnchorPath, artifactPath, proofTtlSeconds },
    ...(id !== undefined && { id }),
    ...(keyId !== undefined && { keyId }),
  }
}

function proofTtlOf(env: Environment, say: Say): number {
  const name = 'HISTORY_PROOF_TTL_SECONDS'
  const text = env[name]
  if (!text) return proofTtlSecondsDefault
  const seconds = /^[1-9]\d{0,9}$/.test(text) ? Number(text) : Number.POSITIVE_INFINITY
  if (seconds > proofTtlSecondsMax)
    say('fail', name, `must be a whole number from 1 to ${proofTtlSecondsMax}`)
  return seconds
}

/** The paths of the issuer group that are set, whether the group is complete or not. */
export const issuerPathsOf = (
  env: Environment,
  directory = '.',
): readonly (readonly [HistoryVariable, string])[] =>
  namesOf('issuer').flatMap((name) => {
    const text = env[name]
    return isPath(text) ? [[name, resolve(directory, text)] as const] : []
  })
