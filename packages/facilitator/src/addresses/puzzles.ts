/** Puzzles for miners elsewhere, as lines of text. */
import { type ChallengeNonce, parseChallengeNonce, SvcError } from '@svc-zerc20/protocol'
import * as z from 'zod'
import type { Puzzle } from './address-maker.js'

/** A line of a file of puzzles. */
export const printPuzzle = ({ recipientHash, baseSecret, ...rest }: Puzzle): string =>
  JSON.stringify({ ...rest, recipientHash: `${recipientHash}`, baseSecret: `${baseSecret}` })

const number = z
  .string()
  .regex(/^(?:0|[1-9]\d{0,77})$/)
  .transform((text) => BigInt(text))
const form = z.strictObject({
  challengeNonce: z.string().transform((text, context) => {
    const nonce = parseChallengeNonce(text)
    if (nonce === undefined) context.addIssue('no nonce')
    return nonce as ChallengeNonce
  }),
  generation: z.literal(2),
  powBits: z.int().min(0).max(32),
  recipientHash: number,
  baseSecret: number,
  epoch: z.strictObject({ ledger: z.string().regex(/^[0-9a-f]{32}$/), start: z.int().min(0) }).optional(),
})

/** Throws `SvcError('puzzle_invalid')`, without the line: it holds a secret. */
export function parsePuzzle(line: string): Puzzle {
  try {
    const { epoch, ...rest } = form.parse(JSON.parse(line))
    return { ...rest, ...(epoch && { epoch }) }
  } catch {
    throw new SvcError('puzzle_invalid', 'a line is no puzzle of `svc-facilitator puzzles`')
  }
}
