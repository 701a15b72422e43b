/** Failures as the log and `/status` tell them: by code in the log, with a sentence in `/status`. */

/** The stable code of a failure. A failure without a code is a defect of ours. */
export function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' ? code : 'internal_error'
}

/** A failure as `/status` tells it. */
export const sentenceOf = (error: unknown): string => `${codeOf(error)}: ${(error as Error).message}`
