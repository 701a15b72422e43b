/** One line of a check: what was looked at, and whether it is good. */
import { type ExitCode, exitCodes } from '@svc-zerc20/daemon'

export type Finding = {
  readonly level: 'ok' | 'warn' | 'fail'
  /** A key of the configuration file, an environment variable, or the file itself. */
  readonly key: string
  readonly message: string
  /** Where the key stands in the configuration file. */
  readonly line?: number
  /**
   * What a failure means for `start`. By default it refuses, because only the operator can mend it; `later` is the
   * world's fault and may mend itself; `anyway` hurts, but a daemon that is not there hurts its payers more.
   */
  readonly start?: 'later' | 'anyway'
}

export const isFailure = ({ level }: Finding): boolean => level === 'fail'

/** Of failures of both kinds, the mistake decides: trying again does not mend it. */
export function exitCodeOf(failures: readonly Finding[]): ExitCode {
  if (failures.length === 0) return exitCodes.ok
  return failures.some(({ start }) => start === undefined) ? exitCodes.mistake : exitCodes.tryAgain
}

/** Without the level: `key: message (line 3)`. */
export function describe({ key, message, line }: Finding): string {
  const where = line === undefined ? '' : ` (line ${line})`
  // One finding is one line, whatever a node or a token puts into its words.
  return `${key}: ${message}${where}`.replace(/[\s\p{Cc}]+/gu, ' ')
}

export const format = (finding: Finding): string => `${finding.level.padEnd(4)} ${describe(finding)}`
