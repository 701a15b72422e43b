/** The real randomness: the only place that touches it. */
import { randomBytes } from 'node:crypto'

export const systemRandom = { bytes: (length: number): Uint8Array => randomBytes(length) }
