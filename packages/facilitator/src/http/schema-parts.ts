/** Parts that the schemas of both surfaces share: scalars, phases, and how a refusal looks. */
import { type BaseUnits, parseBaseUnits, type ReasonCode, reasons } from '@svc-zerc20/protocol'
import * as z from 'zod'
import { limits } from '../config/limits.js'
import type { Mint } from '../payment/records.js'

/** Names of the schemas that the document shares between endpoints. */
export const components = z.registry<{ id: string }>()

export const named = <T extends z.ZodType>(id: string, description: string, schema: T): T => {
  const described = schema.describe(description)
  components.add(described, { id })
  return described
}

export const hex = (bytes: number) => z.string().regex(new RegExp(`^0x[0-9a-fA-F]{${bytes * 2}}$`))
export const baseUnits = z.string().regex(/^(?:0|[1-9][0-9]{0,77})$/)
export const seconds = z.int().nonnegative()
export const count = z.int().nonnegative()
export const nonce = named(
  'ChallengeNonce',
  'Names one payment: 32 bytes chosen by the facilitator.',
  hex(32),
)
export const address = named('Address', 'A 20-byte address.', hex(20))
export const txHash = named('TransactionHash', 'Hash of a transaction.', hex(32))
export const tokenLabel = named(
  'TokenLabel',
  'What the token says of itself: an amount of base units has this many decimals.',
  z.looseObject({ symbol: z.string(), decimals: z.int().nonnegative() }),
)
export const network = z.string().regex(/^eip155:[1-9][0-9]*$/)
export const phase = named(
  'Phase',
  'Where a payment stands, for the operator.',
  z.enum(['open', 'expired', 'accepted', 'finalized']),
)
export const publicPhase = named(
  'PublicPhase',
  'Where a payment stands, as far as everybody may know: a successful settle means accepted, and the moment of the mint that follows would tell the recipient.',
  z.enum(['open', 'expired', 'accepted']),
)
export const reason = named(
  'Reason',
  'Why a request was refused. New ones may be added.',
  z.enum(Object.keys(reasons) as [ReasonCode, ...ReasonCode[]]),
)

export const mint = named(
  'Mint',
  'What was minted to the provider for a burn, as the chain recorded it.',
  z.looseObject({ transaction: txHash.optional(), block: baseUnits.optional(), value: baseUnits }),
)

export const viewMint = ({ txHash, blockNumber, value }: Mint) => ({
  transaction: txHash,
  block: blockNumber,
  value,
})

export const problem = named(
  'Problem',
  'A refusal: a message for people, and a code that is stable.',
  z.looseObject({ error: z.string(), reason }),
)

export const secondsInQuery = z
  .string()
  .regex(/^[0-9]{1,12}$/)
  .transform(Number)

export const unitsInQuery = z
  .string()
  .regex(/^(?:0|[1-9][0-9]{0,77})$/)
  .refine((text) => parseBaseUnits(text) !== undefined, 'has to be below 2^256')
  .transform((text) => BigInt(text) as BaseUnits)

export const pageSize = z
  .string()
  .regex(/^[1-9][0-9]{0,3}$/)
  .optional()
  .transform((text) => (text === undefined ? limits.pageSize : Math.min(Number(text), limits.pageSizeMax)))
  .describe(`${limits.pageSize} unless told, at most ${limits.pageSizeMax}`)
