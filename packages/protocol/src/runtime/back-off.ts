/** Bounds the exponent, because 2 to a larger power would become infinite, and zero times infinity is NaN. */
const doublingsMax = 30

/** Pause after a number of failures in a row: zero without a failure, then doubled with each one, up to `maxMs`. */
export function backOffMs(failures: number, firstMs: number, maxMs: number): number {
  return failures === 0 ? 0 : Math.min(firstMs * 2 ** Math.min(failures - 1, doublingsMax), maxMs)
}
