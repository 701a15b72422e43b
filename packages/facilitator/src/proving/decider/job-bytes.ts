/**
 * The bytes of a decider's jobs. A witness is every input of a circuit by name; an answer is a proof and its public
 * signals. Numbers are 32 bytes each, big-endian. The first five bytes name the kind and the version of the format.
 */
import { SvcError } from '@svc-zerc20/protocol'
import { type CircuitInput, fieldPrime } from '@svc-zerc20/zk'

export type JobProof = { readonly proof: readonly bigint[]; readonly signals: readonly bigint[] }

const witnessMark = Buffer.from('SVCW\x01', 'latin1')
const proofMark = Buffer.from('SVCP\x01', 'latin1')
const wordBytes = 32
const proofWords = 8
/** Bounds of what is read, far above every circuit of ours. */
const bounds = { inputsMax: 256, nameBytesMax: 64, wordsMax: 65_536, signalsMax: 64 }

/** Mark, number of inputs; then for each input its name, whether it is a list, how many numbers, and the numbers. */
export function encodeWitness(input: CircuitInput): Buffer {
  const entries = Object.entries(input).toSorted(([one], [other]) => (one < other ? -1 : 1))
  return Buffer.concat([
    witnessMark,
    sized(2, entries.length),
    ...entries.flatMap(([name, value]) => {
      const numbers = typeof value === 'bigint' ? [value] : value
      const list = typeof value === 'bigint' ? 0 : 1
      return [
        sized(1, name.length),
        Buffer.from(name, 'latin1'),
        sized(1, list),
        sized(4, numbers.length),
      ].concat(numbers.map(wordOf))
    }),
  ])
}

export function decodeWitness(bytes: Buffer): CircuitInput {
  const reader = createReader(bytes, witnessMark, 'witness')
  const input: Record<string, bigint | readonly bigint[]> = {}
  const count = reader.size(2, bounds.inputsMax)
  for (let i = 0; i < count; i++) {
    const name = reader.take(reader.size(1, bounds.nameBytesMax)).toString('latin1')
    if (!/^[A-Za-z]\w*$/.test(name) || Object.hasOwn(input, name)) throw malformed('witness')
    const isList = reader.size(1, 1) === 1
    const numbers = reader.words(reader.size(4, bounds.wordsMax))
    const [first] = numbers
    if (!isList && (numbers.length !== 1 || first === undefined)) throw malformed('witness')
    input[name] = isList ? numbers : (first ?? 0n)
  }
  reader.end()
  return input
}

export const encodeProof = ({ proof, signals }: JobProof): Buffer =>
  Buffer.concat([proofMark, ...proof.map(wordOf), sized(1, signals.length), ...signals.map(wordOf)])

export function decodeProof(bytes: Buffer): JobProof {
  const reader = createReader(bytes, proofMark, 'proof')
  const proof = reader.words(proofWords)
  const signals = reader.words(reader.size(1, bounds.signalsMax))
  reader.end()
  return { proof, signals }
}

function createReader(bytes: Buffer, mark: Buffer, what: 'witness' | 'proof') {
  let at = 0
  function take(length: number): Buffer {
    if (at + length > bytes.length) throw malformed(what)
    at += length
    return bytes.subarray(at - length, at)
  }
  if (!take(Math.min(mark.length, bytes.length)).equals(mark)) throw malformed(what)
  return {
    take,
    size(length: number, max: number): number {
      const size = take(length).readUIntBE(0, length)
      if (size > max) throw malformed(what)
      return size
    },
    words(count: number): readonly bigint[] {
      // Asked for as a whole, so that a large count of a short text allocates nothing.
      const all = take(count * wordBytes)
      return Array.from({ length: count }, (_, i) =>
        numberIn(all.subarray(i * wordBytes, (i + 1) * wordBytes)),
      )
    },
    end() {
      if (at !== bytes.length) throw malformed(what)
    },
  }
}

const numberIn = (word: Buffer): bigint => BigInt(`0x${word.toString('hex')}`)

function wordOf(number: bigint): Buffer {
  // A circuit computes modulo this prime. A point of a proof can be a little larger, and still fits.
  if (number < 0n || number >= 2n * fieldPrime) throw malformed('witness')
  return Buffer.from(number.toString(16).padStart(2 * wordBytes, '0'), 'hex')
}

function sized(length: number, value: number): Buffer {
  const bytes = Buffer.alloc(length)
  bytes.writeUIntBE(value, 0, length)
  return bytes
}

const malformed = (what: 'witness' | 'proof') => new SvcError('job_malformed', `malformed bytes of a ${what}`)
