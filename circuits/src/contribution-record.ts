import { type CircuitName, type Contribution, isForgeable, readKeyFile } from '@svc-zerc20/zk'

/** Of one participant everybody would have to believe that it forgot its secret. */
export const contributionsMin = 2

/** The contributions to a key. Throws when fewer than `min` of them have a secret: that of a beacon is public. */
export function judgeRecord(name: CircuitName, keyFile: Uint8Array, min: number): readonly Contribution[] {
  if (!Number.isSafeInteger(min) || min < 1) throw new Error('a ceremony needs one contribution at least')
  const { verificationKey, contributions } = readKeyFile(keyFile)
  if (isForgeable(verificationKey)) throw new Error(`${name}: delta equals gamma, nobody contributed`)
  const secrets = contributions.filter(({ beacon }) => !beacon).length
  if (secrets < min) {
    throw new Error(`${name}: ${secrets} contributions beside the beacon, where ${min} are asked for`)
  }
  return contributions
}

/** A contribution for people. Names come from strangers: none of them may steer a terminal. */
export function recordLine(at: number, { name, hash, beacon }: Contribution): string {
  const printable = name.replace(/\p{C}/gu, '?')
  return `ceremony:   ${at + 1} ${beacon ? 'beacon' : 'participant'} "${printable}" ${hash}`
}
