/** Exit codes for supervisors. */

/** 0: stopped, or nothing found. 1: a mistake that a person must correct. 75 (EX_TEMPFAIL): a later try may succeed. */
export const exitCodes = { ok: 0, mistake: 1, tryAgain: 75 } as const
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** The exit code for an error. `mistakes` are the error codes that only a person can correct. */
export function exitCodeFor(error: unknown, mistakes: ReadonlySet<string>): ExitCode {
  return codesIn(error).some((code) => mistakes.has(code)) ? exitCodes.mistake : exitCodes.tryAgain
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
