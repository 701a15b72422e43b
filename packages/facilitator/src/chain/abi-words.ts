/**
 * The arguments and results of our own calls, written and read as words of 32 bytes. Every payment needs several, their
 * layouts never change, and viem takes seven times as long.
 */

/** A word as 64 hex digits. */
export const uintWord = (value: bigint | number): string => value.toString(16).padStart(64, '0')
export const addressWord = (address: string): string => `${'0'.repeat(24)}${address.slice(2)}`
/** 32 bytes of hex with 0x. */
export const bytes32Word = (hex: string): string => hex.slice(2)

/** Reads words of a result. Throws where it is none, or has fewer words. */
export type WordReader = {
  uint(at: number): bigint
  /** A number that fits: a place, a count, a time. */
  small(at: number): number
  flag(at: number): boolean
  /** The place that an offset names, counted in words from `base`. */
  placeAt(at: number, base: number): number
  /** The length of a list. The words that its items take at least must be there. */
  lengthAt(at: number, wordsEach: number): number
  /** The bytes behind their length, as hex with 0x. */
  bytes(at: number): `0x${string}`
}

const digits = 64
const words = /^0x(?:[0-9a-f]{64})*$/i

export function readWords(answer: unknown): WordReader {
  if (typeof answer !== 'string' || !words.test(answer)) throw new Error('not words of 32 bytes')
  const data = answer
  const count = (data.length - 2) / digits

  function uint(at: number): bigint {
    if (at >= count) throw new Error(`no word ${at} among ${count}`)
    return BigInt(`0x${data.slice(2 + at * digits, 2 + (at + 1) * digits)}`)
  }

  function small(at: number): number {
    const value = uint(at)
    if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new Error(`word ${at} is too large`)
    return Number(value)
  }

  return {
    uint,
    small,
    flag: (at) => {
      const value = uint(at)
      if (value > 1n) throw new Error(`word ${at} is no flag`)
      return value === 1n
    },
    placeAt: (at, base) => {
      const offset = small(at)
      if (offset % 32 !== 0) throw new Error(`word ${at} is no offset`)
      return base + offset / 32
    },
    lengthAt: (at, wordsEach) => {
      const length = small(at)
      if (at + 1 + wordsEach * length > count) throw new Error(`no list of ${length} at word ${at}`)
      return length
    },
    bytes: (at) => {
      const length = small(at)
      const from = 2 + (at + 1) * digits
      const end = from + 2 * length
      if (end > data.length) throw new Error(`no ${length} bytes behind word ${at}`)
      return `0x${data.slice(from, end)}`
    },
  }
}
