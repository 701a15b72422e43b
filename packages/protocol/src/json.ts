/** Plain JSON values, and comparisons that ignore key order. */
export type JsonObject = { readonly [key: string]: unknown }

/** Deepest nesting allowed; no offer comes near it. Without a bound, a few kilobytes of brackets exhaust the stack. */
export const levelsMax = 64

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** True when objects and arrays nest at most `levels` deep. */
export function nestsWithin(value: unknown, levels = levelsMax): boolean {
  if (typeof value !== 'object' || value === null) return true
  return levels > 0 && Object.values(value).every((item) => nestsWithin(item, levels - 1))
}

// Own keys only: on the wire, `constructor` and `__proto__` are ordinary names.
const ownValue = (object: JsonObject, key: string) => (Object.hasOwn(object, key) ? object[key] : undefined)

/**
 * Equal as JSON: a key whose value is undefined counts as absent, since it never reaches the wire, and
 * `-0` equals `0`. Values that nest deeper than `levels` are never equal.
 */
export function deepEqual(a: unknown, b: unknown, levels = levelsMax): boolean {
  if (a === b) return true
  if (levels === 0) return false
  if (Array.isArray(a)) {
    return (
      Array.isArray(b) && a.length === b.length && a.every((item, i) => deepEqual(item, b[i], levels - 1))
    )
  }
  if (!isObject(a) || !isObject(b)) return false
  const keys = definedKeys(a)
  return (
    keys.length === definedKeys(b).length &&
    keys.every((key) => deepEqual(a[key], ownValue(b, key), levels - 1))
  )
}

const definedKeys = (object: JsonObject) => Object.keys(object).filter((key) => object[key] !== undefined)

/** True when `whole` has every key of `part` with an equal value, at every depth of objects. */
export function isSubset(part: unknown, whole: unknown, levels = levelsMax): boolean {
  if (!isObject(part)) return deepEqual(part, whole, levels)
  if (levels === 0 || !isObject(whole)) return false
  return Object.entries(part).every(([key, value]) => isSubset(value, ownValue(whole, key), levels - 1))
}
