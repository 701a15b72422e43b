/** How a failure is told: in the log by its code, in `/status` with its sentence. */

/** The stable code of a failure; one without a code is a defect of ours. */
export function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' ? code : 'internal_error'
}

/** What `/status` tells of a failure. */
export const sentenceOf = (error: unknown): string => `${codeOf(error)}: ${(error as Error).message}`
