/** Queries and bodies → checked values. An invalid request is answered with 400 and a sentence. */
import { type Address, parseAddress } from '@svc-zerc20/protocol'
import * as z from 'zod'
import { limits } from '../limits.js'
import { RequestError } from './server.js'

const address = z.string().transform((text, context): Address => {
  const parsed = parseAddress(/^0x/i.test(text) ? `0x${text.slice(2)}` : `0x${text}`)
  if (parsed !== undefined) return parsed
  context.addIssue('expected an address')
  return z.NEVER
})

const index = z.int().nonnegative()

const number = z
  .string()
  .regex(/^\d{1,16}$/, 'expected a number')
  .transform(Number)

const word = z
  .string()
  .regex(/^(?:0x)?[0-9a-f]{1,64}$/i, 'expected up to 32 bytes of hex')
  .transform((text) => BigInt(`0x${text.replace(/^0x/i, '')}`))

const limit = number.default(limits.eventsDefault).transform((asked) => Math.min(asked, limits.eventsMax))

const recipients = z
  .string()
  .transform((text) => text.split(',').map((part) => part.trim()))
  .pipe(z.array(address).max(limits.recipientsMax, `at most ${limits.recipientsMax} recipients`))

const shapes = {
  events: z.object({ chain_id: number, token_address: address, to: address, limit }),
  allEvents: z.object({ recipients, limit }),
  proofs: z.object({
    chain_id: index,
    token_address: address,
    target_index: index,
    leaf_indices: z
      .array(index)
      .max(limits.leavesPerRequestMax, `at most ${limits.leavesPerRequestMax} leaf indices`),
  }),
  treeIndex: z.object({ chain_id: number, token_address: address, transfer_root: word }),
}

function parser<T>(shape: z.ZodType<T>): (raw: unknown) => T {
  return (raw) => {
    const parsed = shape.safeParse(raw)
    if (parsed.success) return parsed.data
    const [issue] = parsed.error.issues
    throw new RequestError(400, `${issue?.path.join('.') || 'request'}: ${issue?.message ?? 'malformed'}`)
  }
}

export const parseEventsQuery = parser(shapes.events)
export const parseAllEventsQuery = parser(shapes.allEvents)
export const parseProofsBody = parser(shapes.proofs)
export const parseTreeIndexQuery = parser(shapes.treeIndex)
