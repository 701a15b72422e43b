import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { powersOfTau } from 'snarkjs'

/** A file of the first phase: the public ceremony of others, which serves every circuit. */
export type PowersOfTau = {
  readonly file: string
  /** The published BLAKE2b-512 hash of the file. Without it, the file could be one whose secret is known. */
  readonly blake2b: string
}

/** Pause between two lines of progress. */
const progressMs = 10_000

/** Throws unless the file is the published one. */
export async function comparePowersOfTau({ file, blake2b }: PowersOfTau): Promise<void> {
  const hash = createHash('blake2b512')
  await pipeline(createReadStream(file), hash)
  const found = hash.digest('hex')
  if (found !== blake2b.toLowerCase()) throw new Error(`${file} is not the file of that hash: ${found}`)
}

/**
 * Throws unless the points in every section are powers of one number that follows from the contributions on record. The
 * hash shows where the file comes from; this shows that the file is correct.
 */
export async function verifyPowersOfTau(
  { file }: PowersOfTau,
  onProgress: (line: string) => void,
): Promise<void> {
  onProgress('ceremony: verifying the first phase; an hour or more for a file of 2^17 cut from one of 2^28')
  let told = performance.now()
  const complaints: string[] = []
  const progress = (line: string) => {
    if (performance.now() - told < progressMs) return
    told = performance.now()
    onProgress(`ceremony: first phase: ${line}`)
  }
  const logger = {
    debug: progress,
    info: progress,
    warn: onProgress,
    error: (line: string) => complaints.push(line),
  }
  const good = await powersOfTau.verify(file, logger).catch((error: unknown) => {
    complaints.push(String(error))
    return false
  })
  if (!good) throw new Error(`${file} is no good first phase: ${complaints.join('; ')}`)
  onProgress('ceremony: the first phase is good')
}
