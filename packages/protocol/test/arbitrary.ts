/** Generators for property tests: well-formed wire values, and altered echoes. */
import fc from 'fast-check'
import type { JsonObject } from '../src/json.js'

/** `0x` and `bytes` bytes of hex, in lower, upper or mixed case. */
export const hexOf = (bytes: number) =>
  fc
    .tuple(fc.bigInt({ min: 0n, max: 2n ** BigInt(bytes * 8) - 1n }), fc.nat({ max: bytes * 2 }))
    .map(([number, capitals]) => {
      const digits = number.toString(16).padStart(bytes * 2, '0')
      return `0x${digits.slice(0, capitals).toUpperCase()}${digits.slice(capitals)}`
    })

export const uint256 = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })
const amountText = fc.bigInt({ min: 1n, max: 2n ** 248n - 1n }).map(String)
export const unixSeconds = fc.nat({ max: Number.MAX_SAFE_INTEGER })
export const chainId = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })

/** JSON texts over the given keys and leaves, nested a few levels. */
const jsonText = (key: fc.Arbitrary<string>, leaf: fc.Arbitrary<string>) =>
  fc.letrec<{ value: string; array: string; object: string }>((tie) => ({
    value: fc.oneof({ maxDepth: 4, depthSize: 'small' }, leaf, tie('array'), tie('object')),
    array: fc.array(tie('value'), { maxLength: 3 }).map((items) => `[${items.join()}]`),
    object: fc
      .array(fc.tuple(key, tie('value')), { maxLength: 4 })
      .map((entries) => `{${entries.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join()}}`),
  })).value

const trickyKey = fc.constantFrom('__proto__', 'constructor', 'prototype', 'toString', 'a', '0', '')
const anyText = fc.string({ unit: 'binary' })
const anyLeaf = fc.oneof(
  anyText.map((text) => JSON.stringify(text)),
  fc.double({ noDefaultInfinity: true, noNaN: true }).map((number) => JSON.stringify(number)),
  fc.constantFrom('true', 'false', 'null'),
)

/** Any JSON value as a parser hands it over, with `__proto__` and `constructor` among its keys. */
export const json = jsonText(fc.oneof(trickyKey, anyText), anyLeaf).map((text): unknown => JSON.parse(text))

/** JSON with few keys and leaves, so that two values are often equal. */
export const smallJson = jsonText(
  fc.constantFrom('__proto__', 'constructor'),
  fc.constantFrom('0', '-0', 'null'),
).map((text): unknown => JSON.parse(text))

/** Unknown fields, with keys that differ from all of ours. */
const unknownFields = fc.dictionary(
  fc.string({ maxLength: 8 }).map((name) => `x-${name}`),
  fc.jsonValue({ maxDepth: 2 }),
  { maxKeys: 3 },
)

const fee = fc.record({ amount: uint256.map(String), bps: fc.nat({ max: 10_000 }) })

const knownExtra = fc.record(
  { challengeNonce: hexOf(32), expiresAt: unixSeconds, helper: hexOf(20), deadline: unixSeconds, fee },
  { requiredKeys: ['challengeNonce', 'expiresAt'] },
)
const extra = fc.tuple(unknownFields, knownExtra).map(([unknown, known]) => ({ ...unknown, ...known }))

const knownOffer = fc.record(
  {
    scheme: fc.constant('svc-zerc20'),
    network: chainId.map((id) => `eip155:${id}`),
    asset: hexOf(20),
    amount: amountText,
    payTo: hexOf(20),
    maxTimeoutSeconds: fc.nat(),
    extra,
    resource: fc.constant('https://shop.example/report'),
    description: fc.string({ maxLength: 8 }),
    mimeType: fc.constant('application/json'),
    outputSchema: unknownFields,
  },
  { requiredKeys: ['scheme', 'network', 'asset', 'amount', 'payTo', 'maxTimeoutSeconds', 'extra'] },
)

/** A well-formed offer, with and without optional and unknown fields. */
export const offer = fc
  .tuple(unknownFields, knownOffer)
  .map(([unknown, known]): JsonObject => ({ ...unknown, ...known }))

export type Mutation = {
  readonly kind: 'drop' | 'replace' | 'add' | 'shuffle'
  /** Index of the place in the tree that is changed, modulo the number of places. */
  readonly place: number
  readonly value: unknown
}

export const mutation: fc.Arbitrary<Mutation> = fc.record({
  kind: fc.constantFrom('drop', 'replace', 'add', 'shuffle'),
  place: fc.nat(),
  value: fc.oneof(fc.jsonValue({ maxDepth: 1 }), fc.constantFrom(0, '0', '', null, [], {})),
})

type Container = Record<string, unknown> | unknown[]

const isContainer = (value: unknown): value is Container => typeof value === 'object' && value !== null

function containersOf(value: unknown): Container[] {
  return isContainer(value) ? [value, ...Object.values(value).flatMap(containersOf)] : []
}

/** A copy of `original` that differs in one place, or only in the order of its keys. */
export function mutate(original: JsonObject, { kind, place, value }: Mutation): JsonObject {
  const copy = structuredClone(original)
  const containers = containersOf(copy)
  const target = containers[place % containers.length]
  if (target === undefined || Array.isArray(target)) return copy
  const keys = Object.keys(target)
  const key = keys[place % Math.max(1, keys.length)]
  if (kind === 'add') target[`y-${place}`] = value
  if (kind === 'drop' && key !== undefined) delete target[key]
  if (kind === 'replace' && key !== undefined) target[key] = value
  if (kind === 'shuffle') reverseKeys(target)
  return copy
}

function reverseKeys(target: Record<string, unknown>): void {
  const entries = Object.entries(target).reverse()
  for (const [key] of entries) delete target[key]
  for (const [key, value] of entries) target[key] = value
}
