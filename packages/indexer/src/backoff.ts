/** Pause after the n-th failure in a row: doubled each time, up to the limit. */
export const backoffMs = (failures: number, firstMs: number, maxMs: number): number =>
  Math.min(maxMs, firstMs * 2 ** Math.min(failures - 1, 30))

/** The stable code of a failure; one without a code is a defect of ours. */
export function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' ? code : 'internal_error'
}

/** What `/status` tells of a failure. */
export const sentenceOf = (error: unknown): string => `${codeOf(error)}: ${(error as Error).message}`
