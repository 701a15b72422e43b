/** Environment → the operator's choices. Reads every variable first, then names all faults at once. */
import { nearestName, SvcError } from '@svc-zerc20/protocol'
import type { Reading } from '../reading.js'
import { otherPrograms, type Variable, type VariableName, variableNames, variables } from './variables.js'

export type Environment = Readonly<Record<string, string | undefined>>

type ValueOf<V> =
  V extends Variable<infer T> ? (V extends { readonly fallback: string } ? T : T | undefined) : never

/** The value of every variable, by its name. */
export type Settings = { readonly [Name in VariableName]: ValueOf<(typeof variables)[Name]> }

export type EnvironmentReading = {
  readonly settings: Settings
  /**
   * One sentence for each choice that was not made and for each unknown name. Show them where the operator
   * looks.
   */
  readonly warnings: readonly string[]
}

/**
 * @throws SvcError `payer_misconfigured` with one line for each value that cannot be read: the variable, what
 * is wrong with the value, the form wanted. No line contains a key.
 */
export function readEnvironment(environment: Environment): EnvironmentReading {
  const faults: string[] = []
  const warnings: string[] = []
  const settings = Object.fromEntries(
    variableNames.map((name) => {
      const { form, fallback, warning }: Variable<unknown> = variables[name]
      const given = environment[name]
      if (given === undefined && warning) warnings.push(`${name} is unset: ${warning}`)
      const text = given ?? fallback
      if (text === undefined) return [name, undefined]
      const reading: Reading<unknown> = form.read(text)
      if ('value' in reading) return [name, reading.value]
      faults.push(`${name}: ${reading.fault}; wanted is ${form.wanted}`)
      return [name, undefined]
    }),
  ) as Settings
  if (faults.length > 0) throw new SvcError('payer_misconfigured', faults.join('\n'))
  return { settings, warnings: [...warnings, ...unknownNames(environment)] }
}

/** Names that the payer does not know. A misspelled cap is no cap. */
function unknownNames(environment: Environment): string[] {
  const known: readonly string[] = [...variableNames, ...otherPrograms]
  return Object.keys(environment)
    .filter((name) => name.startsWith('SVC_') && !known.includes(name))
    .sort()
    .map((name) => {
      const meant = nearestName(name, variableNames)
      return `${name.replace(/[^\w]/g, '?').slice(0, 80)} is no variable of this program and is ignored${meant ? `; did you mean ${meant}?` : ''}`
    })
}
