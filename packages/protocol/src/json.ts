/** Plain JSON values: comparison without regard to key order. */
export type JsonObject = { readonly [key: string]: unknown }

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function deepEqual(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, i) => deepEqual(item, b[i]))
  }
  if (!isObject(a) || !isObject(b)) return false
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && deepEqual(a[key], b[key]))
  )
}

/** True when every key of `part`, at every depth of objects, stands in `whole` with an equal value. */
export function isSubset(part: unknown, whole: unknown): boolean {
  if (!isObject(part)) return deepEqual(part, whole)
  if (!isObject(whole)) return false
  return Object.entries(part).every(
    ([key, value]) => Object.hasOwn(whole, key) && isSubset(value, whole[key]),
  )
}
