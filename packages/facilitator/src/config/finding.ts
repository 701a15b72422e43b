/** One line of a check: the key that was checked, and the result. */
import { type ExitCode, exitCodeFor, exitCodes } from '@svc-zerc20/daemon'

export type Finding = {
  readonly level: 'ok' | 'warn' | 'fail'
  /** A key of the configuration file, an environment variable, or the file itself. */
  readonly key: string
  readonly message: string
  /**
   * The meaning of a failure for `start`. By default the start is refused, because only the operator can correct it. `later`:
   * an outside failure that may end by itself. `anyway`: the daemon starts all the same, because that is better for
   * payers than no daemon.
   */
  readonly start?: 'later' | 'anyway'
}

const at =
  (level: Finding['level']) =>
  (key: string, message: string): Finding => ({ level, key, message })
export const [ok, warn, fail] = [at('ok'), at('warn'), at('fail')]
/** An outside failure, which may end by itself. */
export const outage = (key: string, message: string): Finding => ({ ...fail(key, message), start: 'later' })

const aboutKey = /^([a-z_0-9]+\.[a-z_0-9]+|[A-Z][A-Z_0-9]+): (.*)$/s

/** The failure that an error of ours tells. It begins with the name of its setting if it is about one other than `key`. */
export function findingOf(error: Error, key: string): Finding {
  const [, named = key, message = error.message] = aboutKey.exec(error.message) ?? []
  return exitCodeFor(error) === exitCodes.tryAgain ? outage(named, message) : fail(named, message)
}

export const isFailure = ({ level }: Finding): boolean => level === 'fail'

/** If there are mistakes and outside failures, the mistakes decide, because another try would not help. */
export function exitCodeOf(failures: readonly Finding[]): ExitCode {
  if (failures.length === 0) return exitCodes.ok
  return failures.some(({ start }) => start === undefined) ? exitCodes.mistake : exitCodes.tryAgain
}

/** Without the level. One finding is always one line, even if a node's or token's text has line breaks. */
export const describe = ({ key, message }: Finding): string =>
  `${key}: ${message}`.replace(/[\s\p{Cc}]+/gu, ' ')

export const format = (finding: Finding): string => `${finding.level.padEnd(4)} ${describe(finding)}`
