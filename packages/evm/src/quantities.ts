/** Numbers as a node writes them: `0x` and hex digits, at most 256 bits. */
const quantityPattern = /^0x[0-9a-f]{1,64}$/i

export const parseQuantity = (raw: unknown): bigint | undefined =>
  typeof raw === 'string' && quantityPattern.test(raw) ? BigInt(raw) : undefined

/** A count or a height: a quantity that fits into a safe integer. */
export function parseCount(raw: unknown): number | undefined {
  const count = typeof raw === 'string' && quantityPattern.test(raw) ? Number(raw) : Number.NaN
  return Number.isSafeInteger(count) ? count : undefined
}
