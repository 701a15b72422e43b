/** The values of single variables of the payment history. What is wrong with one is said, and never the value itself. */
import { resolve } from 'node:path'
import type { Address } from '@svc-zerc20/protocol'
import {
  type Environment,
  environmentVariables,
  type HistoryGroup,
  type HistoryVariable,
  historyNameCharactersMax,
  historyVariables,
  identitySecretCharactersMin,
} from '../environment.js'
import type { Finding } from '../finding.js'
import { address } from '../types.js'

export type Say = (level: Finding['level'], key: string, message: string) => void

export const namesOf = (group: HistoryGroup): HistoryVariable[] =>
  historyVariables.filter((variable) => variable.group === group).map(({ name }) => name)

export function addressOf(env: Environment, name: HistoryVariable, say: Say): Address | undefined {
  const text = env[name]
  if (!text) return undefined
  const parsed = address.parse(text)
  if (parsed === undefined) {
    say('fail', name, `must be ${address.allowed}; capitals, if mixed, must be those of its checksum`)
  }
  return parsed
}

export function nameOf(env: Environment, name: HistoryVariable, say: Say): string | undefined {
  const text = env[name] ?? ''
  // A blank at an end is a typing mistake: no token would have the name that was meant.
  const isGood = text === text.trim() && text.length <= historyNameCharactersMax && !/\p{C}/u.test(text)
  if (isGood) return text
  const rule = `must be 1 to ${historyNameCharactersMax} printable characters, without blanks at its ends`
  say('fail', name, rule)
  return undefined
}

export const isPath = (text: string | undefined): text is string =>
  text !== undefined && text.trim() !== '' && !text.includes('\0')

export function pathOf(
  env: Environment,
  name: HistoryVariable,
  directory: string,
  say: Say,
): string | undefined {
  const text = env[name]
  if (isPath(text)) return resolve(directory, text)
  say('fail', name, 'must be a path')
  return undefined
}

/** Fewer different characters than this were typed, not drawn. */
const differentCharactersMin = 8

export function secretOf(env: Environment, name: HistoryVariable, say: Say): string | undefined {
  const secret = env[name] ?? ''
  if (secret.length < identitySecretCharactersMin) {
    say(
      'fail',
      name,
      `must have ${identitySecretCharactersMin} characters or more; make it with openssl rand -hex 32`,
    )
    return undefined
  }
  const same = environmentVariables.find((variable) => env[variable.name] === secret)
  if (same) {
    say(
      'fail',
      name,
      `is ${same.name}: whoever has one would have the other; make it with openssl rand -hex 32`,
    )
  }
  if (new Set(secret).size < differentCharactersMin) {
    say('warn', name, 'has few different characters; it can be guessed')
  }
  return secret
}
