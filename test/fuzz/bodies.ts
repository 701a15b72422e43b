/** Valid bodies with one mistake: in a field, in the text, or in the bytes. */
import fc from 'fast-check'
import type { Json, JsonObject, Payment } from './payments.js'

/** Odd values for a field: other types, other number notations, other lengths, names of the runtime. */
const odd: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom<Json>(null, true, false, 0, -1, -0, 1.5, 2, 27, 1e3, 1e308, 2 ** 53, '', ' ', '0', '2'),
  fc.constantFrom<Json>('1e3', '0x10', '01', '-1', '+1', '1_000', '1.0', '٣', '1000\n', '0x', '0X', 'null'),
  fc.constantFrom<Json>('__proto__', 'constructor', 'toString', [], {}, [null], { toString: 1 }, [[[[]]]]),
  fc.bigInt({ min: 0n, max: 2n ** 300n }).map(String),
  fc.nat({ max: 70 }).chain((bytes) => hex(bytes)),
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc
    .constantFrom('a', '𝕏', '\0', '\u202e')
    .chain((unit) => fc.constantFrom(unit.repeat(10), unit.repeat(5_000))),
  fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>,
)

export function hex(bytes: number): fc.Arbitrary<string> {
  return fc
    .uint8Array({ minLength: bytes, maxLength: bytes })
    .map((array) => `0x${Buffer.from(array).toString('hex')}`)
}

type Path = readonly string[]

/** Every place in a body, the whole of it included. */
function placesIn(value: Json, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path]
  return [path, ...Object.entries(value).flatMap(([key, item]) => placesIn(item, [...path, key]))]
}

/** The body with the value at one place changed. `undefined` removes it. */
function withChange(
  value: Json,
  [key, ...rest]: Path,
  change: (old: Json) => Json | undefined,
): Json | undefined {
  if (key === undefined) return change(value)
  const entries = Object.entries(value as JsonObject).flatMap(([name, item]): [string, Json][] => {
    if (name !== key) return [[name, item]]
    const changed = withChange(item, rest, change)
    return changed === undefined ? [] : [[name, changed]]
  })
  return Object.fromEntries(entries)
}

const changes: fc.Arbitrary<(old: Json) => Json | undefined> = fc.oneof(
  { weight: 6, arbitrary: odd.map((value) => () => value) },
  { weight: 2, arbitrary: fc.constant(() => undefined) },
  {
    weight: 3,
    arbitrary: fc.constantFrom<(old: Json) => Json>(
      (old) => [old],
      (old) => ({ value: old }),
      (old) => `${typeof old === 'string' ? old : JSON.stringify(old)}`.toUpperCase(),
      (old) => (typeof old === 'string' ? old.slice(0, -1) : `${JSON.stringify(old)}`),
      (old) => (typeof old === 'string' ? `${old}0` : [old, old]),
      (old) => (typeof old === 'string' ? old.replace(/.$/, (last) => (last === '0' ? '1' : '0')) : -1),
      (old) => (typeof old === 'string' ? old.replace(/^0x./, '0xf') : -1),
      (old) => (typeof old === 'string' ? old.replace(/^0x./, '0x1') : 28),
      (old) => (typeof old === 'string' && /^\d+$/.test(old) ? Number(old) : `${JSON.stringify(old)}`),
      (old) => (typeof old === 'object' && old !== null ? { ...old, later: 1 } : old),
    ),
  },
)

/** One of the four bodies of one of the payments, changed at one or two places. */
function changedBodies(payments: readonly Payment[]): fc.Arbitrary<Json> {
  return fc
    .record({
      payment: fc.constantFrom(...payments),
      shape: fc.constantFrom('official', 'official', 'legacy'),
      mode: fc.constantFrom('permit', 'permit', 'selfTransfer'),
      at: fc.array(fc.tuple(fc.nat(), changes), { minLength: 0, maxLength: 2 }),
    })
    .map(({ payment, shape, mode, at }) =>
      at.reduce<Json>(
        (body, [where, change]) => {
          const places = placesIn(body)
          return withChange(body, places[where % places.length] ?? [], change) ?? null
        },
        payment[shape as 'official' | 'legacy'][mode as 'permit' | 'selfTransfer'],
      ),
    )
}

const runtimeNames = [
  '__proto__',
  'constructor',
  'prototype',
  'challengeNonce',
  'paymentPayload',
  'x402Version',
]

/** Mistakes that exist only in the JSON text. */
const textChanges: fc.Arbitrary<(text: string) => string> = fc.oneof(
  { weight: 60, arbitrary: fc.constant((text: string) => text) },
  fc.nat({ max: 2_000 }).map((end) => (text: string) => text.slice(0, end)),
  fc.tuple(fc.nat(), fc.string({ unit: 'binary', maxLength: 3 })).map(([where, put]) => (text: string) => {
    const at = where % (text.length + 1)
    return text.slice(0, at) + put + text.slice(at)
  }),
  fc.tuple(fc.constantFrom(...runtimeNames), odd).map(
    ([key, value]) =>
      (text: string) =>
        text.replace('{', `{"${key}":${JSON.stringify(value)},`),
  ),
  fc.tuple(fc.constantFrom('[', '{"a":', '[{"payload":'), fc.constantFrom(65, 1_000, 5_000)).map(
    ([unit, levels]) =>
      () =>
        unit.repeat(levels),
  ),
  fc
    .constantFrom(65, 1_000, 10_000)
    .map(
      (levels) => (text: string) => text.replace('{', `{"deep":${'['.repeat(levels)}${']'.repeat(levels)},`),
    ),
  fc.constantFrom(
    (text: string) => `\ufeff${text}`,
    (text: string) => `${text}${text}`,
    (text: string) => text + ' '.repeat(60_000),
    (text: string) => text.padEnd(70_000),
    (text: string) => `/* */${text}`,
    (text: string) => text.replaceAll('"', "'"),
    (text: string) => text.replace(/"(\d+)"/, '$1e0'),
    () => '',
    () => 'null',
    () => '"text"',
    () => '[]',
    () => '{}',
    () => 'NaN',
  ),
)

const byteChanges: fc.Arbitrary<(bytes: Buffer) => Buffer> = fc.oneof(
  { weight: 60, arbitrary: fc.constant((bytes: Buffer) => bytes) },
  fc
    .tuple(fc.nat(), fc.constantFrom([0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf8], [0]))
    .map(([where, put]) => (bytes: Buffer) => {
      const at = where % (bytes.length + 1)
      return Buffer.concat([bytes.subarray(0, at), Buffer.from(put), bytes.subarray(at)])
    }),
  fc.uint8Array({ maxLength: 300 }).map((array) => () => Buffer.from(array)),
  fc.constantFrom((bytes: Buffer) => Buffer.from(bytes.toString('utf8'), 'utf16le')),
)

/** Bodies for `/verify` and `/settle`. */
export function paymentBodies(payments: readonly Payment[]): fc.Arbitrary<Buffer> {
  return fc
    .tuple(changedBodies(payments), textChanges, byteChanges)
    .map(([body, changeText, changeBytes]) => changeBytes(Buffer.from(changeText(JSON.stringify(body)))))
}

/** Bodies for `/challenge`. */
export const challengeBodies: fc.Arbitrary<Buffer> = fc
  .tuple(
    fc.oneof(
      { weight: 1, arbitrary: fc.constant<Json>({ amount: '1000' }) },
      { weight: 6, arbitrary: odd.map((amount): Json => ({ amount })) },
      { weight: 1, arbitrary: odd },
    ),
    textChanges,
    byteChanges,
  )
  .map(([body, changeText, changeBytes]) => changeBytes(Buffer.from(changeText(JSON.stringify(body)))))
