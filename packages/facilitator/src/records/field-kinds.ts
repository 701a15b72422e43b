/** The kinds of fields that stored records are made of. */
import {
  type Address,
  type BaseUnits,
  type ChallengeNonce,
  parseAddress,
  parseBaseUnits,
  parseBytes32,
  parseChallengeNonce,
  parseTxHash,
  parseUnixSeconds,
  type TxHash,
  type UnixSeconds,
} from '@svc-zerc20/protocol'
import { corrupt, type Field, type OptionalField, required, simple } from './field.js'

const hexField = <T extends string>(what: string, bytes: number, parse: (raw: unknown) => T | undefined) =>
  simple<T>({
    fromJson: required(what, parse),
    pattern: `"(0x[0-9a-f]{${bytes * 2}})"`,
  })

export const challengeNonce: Field<ChallengeNonce> = hexField('challenge nonce', 32, parseChallengeNonce)
export const address: Field<Address> = hexField('address', 20, parseAddress)
export const txHash: Field<TxHash> = hexField('transaction hash', 32, parseTxHash)
export const blockHash: Field<string> = hexField('hash', 32, parseBytes32)

/** A decimal string, because the number may exceed 2^53. A text of more than 73 digits is read by `fromJson`, which has a limit. */
export const units: Field<BaseUnits> = simple({
  toJson: (value) => `${value}`,
  fromJson: required('number', parseBaseUnits),
  pattern: '"(0|[1-9][0-9]{0,72})"',
  fromText: (text) => BigInt(text) as BaseUnits,
})
export const height: Field<bigint> = units as Field<bigint>

/** 15 digits at most: a JavaScript number holds them exactly. */
const digits = '(0|[1-9][0-9]{0,14})'

export const seconds: Field<UnixSeconds> = simple({
  fromJson: required('time', parseUnixSeconds),
  pattern: digits,
  fromText: (text) => Number(text) as UnixSeconds,
})
export const integer: Field<number> = simple({
  fromJson: required('number', (value) => (Number.isSafeInteger(value) ? (value as number) : undefined)),
  pattern: digits,
  fromText: Number,
})

/** A flag. Journals of older versions lack some flags, which then read as false. */
export const flag: OptionalField<boolean> = {
  ...simple<boolean>({
    fromJson: (raw) => raw === true,
    pattern: '(true|false)',
    fromText: (text) => text === 'true',
  }),
  isOptional: true,
  hasDefault: true,
}

/** A mark that is either there or missing. */
export const mark: Field<true> = simple<true>({
  fromJson: required('mark', (raw) => (raw === true ? true : undefined)),
  pattern: '(true)',
  fromText: () => true,
})

/** A text that a regular expression describes. The text has no quotes and no escapes. */
export const textLike = (what: string, pattern: string): Field<string> => {
  const whole = new RegExp(`^${pattern}$`)
  return simple({
    fromJson: required(what, (raw) => (typeof raw === 'string' && whole.test(raw) ? raw : undefined)),
    pattern: `"(${pattern})"`,
  })
}

export const oneOf = <T extends string>(what: string, texts: readonly T[]): Field<T> =>
  simple({
    fromJson: required(what, (raw) => texts.find((text) => text === raw)),
    pattern: `"(${texts.join('|')})"`,
  })

/** The identity of a payload: 16 bytes as hex. */
export const identity = textLike('identity', '[0-9a-f]{32}')

export const rawTransaction: Field<`0x${string}`> = simple({
  fromJson(raw) {
    if (typeof raw !== 'string' || !/^0x[0-9a-f]+$/.test(raw)) throw corrupt('a transaction is not hex')
    return raw as `0x${string}`
  },
  pattern: '"(0x[0-9a-f]+)"',
})

/** A list of nonces. The pattern matches a list of at least one; an empty list is read as JSON. */
export const challengeNonces: Field<readonly ChallengeNonce[]> = simple({
  fromJson: (raw) => (raw as unknown[]).map(challengeNonce.fromJson),
  pattern: '\\["(0x[0-9a-f]{64}(?:","0x[0-9a-f]{64})*)"\\]',
  fromText: (text) => text.split('","') as ChallengeNonce[],
})
