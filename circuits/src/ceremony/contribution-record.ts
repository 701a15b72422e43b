import {
  type CircuitName,
  type Contribution,
  isForgeable,
  type PublicValue,
  readKeyFile,
} from '@svc-zerc20/zk'

/** With a single participant, everybody would have to trust that it discarded its secret. */
export const contributionsMin = 2

/** Requirements on the record of every key. */
export type Asked = {
  /** Minimum number of contributions with a secret. A beacon does not count, because its value is public. */
  readonly min: number
  /** The announced value of the beacon; `undefined` compares none, `unfinished` expects no beacon. */
  readonly beacon: string | 'unfinished' | undefined
}

/** The contributions to a key. Throws when they do not meet the requirements. */
export function judgeRecord(
  name: CircuitName,
  keyFile: Uint8Array,
  { min, beacon }: Asked,
): readonly Contribution[] {
  if (!Number.isSafeInteger(min) || min < 1) throw new Error('a ceremony needs one contribution at least')
  const { verificationKey, contributions } = readKeyFile(keyFile)
  if (isForgeable(verificationKey)) throw new Error(`${name}: delta equals gamma, nobody contributed`)
  const secrets = contributions.filter((contribution) => !contribution.beacon).length
  if (secrets < min) {
    throw new Error(`${name}: ${secrets} contributions beside the beacon, where ${min} are asked for`)
  }
  if (beacon !== 'unfinished') judgeBeacon(name, contributions, beacon)
  return contributions
}

/** Checks for a beacon at the end. Without one, the last contributor could try secrets until the key suits them. */
function judgeBeacon(
  name: CircuitName,
  contributions: readonly Contribution[],
  announced: string | undefined,
): void {
  const publicValue = contributions.at(-1)?.publicValue
  if (publicValue === undefined) throw new Error(`${name}: the last contribution is no beacon`)
  if (contributions.filter(({ beacon }) => beacon).length > 1)
    throw new Error(`${name}: more than one beacon`)
  if (announced !== undefined && announced.toLowerCase().replace(/^0x/, '') !== publicValue.hex) {
    throw new Error(`${name}: the beacon is ${publicValue.hex}, which is not the announced value`)
  }
}

/** The beacon of all keys. Throws when they differ: a coordinator could have tried values for one of them. */
export function oneBeacon(records: Iterable<readonly Contribution[]>): PublicValue | undefined {
  const [first, ...others] = [...records].map((contributions) => contributions.at(-1)?.publicValue)
  const same = (other: PublicValue | undefined) =>
    other?.hex === first?.hex && other?.iterationsExponent === first?.iterationsExponent
  if (!others.every(same)) throw new Error('the keys have different beacons')
  return first
}

/** One line about a contribution. Names come from strangers, so control characters are removed. */
export function recordLine(at: number, { name, hash, publicValue }: Contribution): string {
  const printable = name.replace(/\p{C}/gu, '?')
  const kind = publicValue ? 'beacon' : 'participant'
  return `ceremony:   ${at + 1} ${kind} "${printable}" ${hash}${publicValue ? `, ${inWords(publicValue)}` : ''}`
}

export const inWords = ({ hex, iterationsExponent }: PublicValue): string =>
  `value ${hex}, hashed 2^${iterationsExponent} times`
