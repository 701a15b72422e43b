/** The exponent stays where the product is finite: nothing times infinity would be no number. */
const doublingsMax = 30

/** Pause after so many failures in a row: none without a failure, then doubled with each, up to the limit. */
export function backOffMs(failures: number, firstMs: number, maxMs: number): number {
  return failures === 0 ? 0 : Math.min(firstMs * 2 ** Math.min(failures - 1, doublingsMax), maxMs)
}
