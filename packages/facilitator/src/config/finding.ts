/** One line of a check: the key that was checked, and the result. */
import { type ExitCode, exitCodes } from '@svc-zerc20/daemon'

export type Finding = {
  readonly level: 'ok' | 'warn' | 'fail'
  /** A key of the configuration file, an environment variable, or the file itself. */
  readonly key: string
  readonly message: string
  /** Line of the key in the configuration file. */
  readonly line?: number
  /**
   * What a failure means for `start`. By default the start is refused, because only the operator can correct it. `later`:
   * an outside failure that may end by itself. `anyway`: the daemon starts all the same, because that is better for
   * payers than no daemon.
   */
  readonly start?: 'later' | 'anyway'
}

export const isFailure = ({ level }: Finding): boolean => level === 'fail'

/** If there are mistakes and outside failures, the mistakes decide, because another try would not help. */
export function exitCodeOf(failures: readonly Finding[]): ExitCode {
  if (failures.length === 0) return exitCodes.ok
  return failures.some(({ start }) => start === undefined) ? exitCodes.mistake : exitCodes.tryAgain
}

/** Without the level: `key: message (line 3)`. */
export function describe({ key, message, line }: Finding): string {
  const where = line === undefined ? '' : ` (line ${line})`
  // One finding is always one line, even if a node's or token's text has line breaks.
  return `${key}: ${message}${where}`.replace(/[\s\p{Cc}]+/gu, ' ')
}

export const format = (finding: Finding): string => `${finding.level.padEnd(4)} ${describe(finding)}`
