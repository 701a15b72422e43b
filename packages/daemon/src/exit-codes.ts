/** Exit codes for supervisors. */
import { errorRow } from '@svc-zerc20/protocol'

/** 0: stopped, or nothing found. 1: a mistake that a person must correct. 75 (EX_TEMPFAIL): a later try may succeed. */
export const exitCodes = { ok: 0, mistake: 1, tryAgain: 75 } as const
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** The exit code for an error, by the table of error codes. */
export function exitCodeFor(error: unknown): ExitCode {
  return exitCodes[codesIn(error).some((code) => errorRow(code)?.exit) ? 'mistake' : 'tryAgain']
}

/** The codes of an error and of its causes, because several parts may have failed. */
function codesIn(error: unknown): string[] {
  const {
    code,
    cause,
    errors = [],
  } = Object(error) as { code?: unknown; cause?: unknown; errors?: unknown[] }
  const inner = [cause, ...errors].filter((each) => each !== undefined)
  return [...(typeof code === 'string' ? [code] : []), ...inner.flatMap(codesIn)]
}
