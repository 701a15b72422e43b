/** How a process ends, in the numbers that supervisors read. */

/** 0 stopped or nothing found, 1 a mistake to mend, 75 (EX_TEMPFAIL) worth trying again later. */
export const exitCodes = { ok: 0, mistake: 1, tryAgain: 75 } as const
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** The code for an error that ended the process: `mistakes` are the error codes that only a person can mend. */
export function exitCodeFor(error: unknown, mistakes: ReadonlySet<string>): ExitCode {
  return codesIn(error).some((code) => mistakes.has(code)) ? exitCodes.mistake : exitCodes.tryAgain
}

/** Of an error and of its causes: several parts may have failed to end. */
function codesIn(error: unknown): string[] {
  const {
    code,
    cause,
    errors = [],
  } = Object(error) as { code?: unknown; cause?: unknown; errors?: unknown[] }
  const inner = [cause, ...errors].filter((each) => each !== undefined)
  return [...(typeof code === 'string' ? [code] : []), ...inner.flatMap(codesIn)]
}
