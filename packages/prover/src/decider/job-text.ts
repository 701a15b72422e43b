/**
 * What is in the base64 fields of a job: JSON, in which every number is hexadecimal text. A witness is every input of a
 * circuit by name; an answer is a proof and its public signals.
 */
import { SvcError } from '@svc-zerc20/protocol'
import * as z from 'zod'
import type { Proof, ProofInput } from '../message.js'

const number = z
  .string()
  .regex(/^0x[0-9a-f]{1,64}$/)
  .transform(BigInt)
const witness = z.record(z.string().regex(/^[A-Za-z]\w{0,63}$/), z.union([number, z.array(number)]))
const proof = z.strictObject({ proof: z.array(number).length(8), signals: z.array(number).max(64) })

/** The same text for the same witness, whatever the order of its names. */
export const encodeWitness = (input: ProofInput): string =>
  encode(Object.fromEntries(Object.entries(input).toSorted(([one], [other]) => (one < other ? -1 : 1))))

export const encodeProof = ({ proof, signals }: Proof): string => encode({ proof, signals })

/** Throws `SvcError('job_malformed')`, as `decodeProof` does. */
export const decodeWitness = (text: string): ProofInput => decode(witness, text)

export const decodeProof = (text: string): Proof => decode(proof, text)

const encode = (value: object): string =>
  Buffer.from(
    JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? `0x${each.toString(16)}` : each)),
  ).toString('base64')

function decode<T>(schema: z.ZodType<T>, text: string): T {
  try {
    return schema.parse(JSON.parse(Buffer.from(text, 'base64').toString()))
  } catch (cause) {
    throw new SvcError('job_malformed', 'malformed text of a job', { cause })
  }
}
