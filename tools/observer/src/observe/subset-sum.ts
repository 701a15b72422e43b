/**
 * How likely each burn is a part of a sum, when every burn is in it or not by a chance of its own and the sum is known.
 * Exact: all subsets are weighed, by sums from the left and from the right of each burn.
 */

export type Part = { readonly value: bigint; readonly chance: number }

/** Sums beyond this many steps of the amounts' common divisor, times parts, are too many to weigh. */
const cellsMax = 4_000_000

/** One probability for each part, or undefined when no subset has the sum or there are too many to weigh. */
export function explainSum(parts: readonly Part[], sum: bigint): readonly number[] | undefined {
  if (sum < 0n) return undefined
  const step = parts.reduce((divisor, { value }) => gcd(divisor, value), sum)
  if (step === 0n || sum / step > BigInt(cellsMax)) return undefined
  const size = Number(sum / step) + 1
  if (size * (parts.length + 1) > cellsMax) return undefined
  const sizes = parts.map(({ value }) => Number(value / step))
  const left = [start(size)]
  for (const [i, { chance }] of parts.entries()) {
    left.push(withPart(left[i] ?? start(size), sizes[i] ?? 0, chance))
  }
  if ((left.at(-1)?.[size - 1] ?? 0) === 0) return undefined
  const found: number[] = []
  let right = start(size)
  for (let i = parts.length - 1; i >= 0; i--) {
    const chance = parts[i]?.chance ?? 0
    const before = left[i] ?? start(size)
    const without = (1 - chance) * meet(before, right, size - 1)
    const within = chance * meet(before, right, size - 1 - (sizes[i] ?? 0))
    found[i] = within + without === 0 ? 0 : within / (within + without)
    right = withPart(right, sizes[i] ?? 0, chance)
  }
  return found
}

function start(size: number): Float64Array {
  const sums = new Float64Array(size)
  sums[0] = 1
  return sums
}

/** Chances of every sum after one more part. Kept at a total of one, so that many parts do not vanish in rounding. */
function withPart(sums: Float64Array, size: number, chance: number): Float64Array {
  const next = new Float64Array(sums.length)
  let total = 0
  for (let sum = 0; sum < sums.length; sum++) {
    const shorter = sum >= size ? (sums[sum - size] ?? 0) : 0
    const weight = (1 - chance) * (sums[sum] ?? 0) + chance * shorter
    next[sum] = weight
    total += weight
  }
  if (total > 0) for (let sum = 0; sum < next.length; sum++) next[sum] = (next[sum] ?? 0) / total
  return next
}

/** Chance that a sum of the left and one of the right make this sum together. */
function meet(left: Float64Array, right: Float64Array, sum: number): number {
  let chance = 0
  for (let part = 0; part <= sum; part++) chance += (left[part] ?? 0) * (right[sum - part] ?? 0)
  return chance
}

function gcd(one: bigint, other: bigint): bigint {
  let [a, b] = [one, other]
  while (b !== 0n) [a, b] = [b, a % b]
  return a
}
