/** Memory of two elements a place, the functions that work on it, and powers of them. */
import assert from 'node:assert/strict'
import { limbBits, limbCount } from '../field.js'
import { createMemory, instantiate, pageBytes } from '../wasm/instance.js'
import { createModule } from '../wasm/module.js'
import { coordinatePrime, pairBytes } from './coordinates.js'
import { definePoints, type PointFunctions, scratchPairs } from './points.js'

export const pairAt = (address: number, index: number): number => address + index * pairBytes

const limbMask = (1n << BigInt(limbBits)) - 1n

export type PairMemory = {
  readonly run: PointFunctions
  /** The address of so many pairs. */
  take(pairs: number): number
  copy(to: number, from: number, pairs: number): void
  write(address: number, lane: number, value: bigint): void
  writeBoth(address: number, value: bigint): void
  /** The value in a lane, reduced. */
  read(address: number, lane: number): bigint
}

export function createPairMemory(): PairMemory {
  const module = createModule()
  definePoints(module, 0)
  // The tables take a sixth of it.
  const memory = createMemory(1)
  const words = new Uint32Array(memory.buffer)
  let used = scratchPairs * pairBytes
  const wordOf = (address: number, lane: number) => address / 4 + lane

  function write(address: number, lane: number, value: bigint): void {
    let rest = value
    for (let limb = 0; limb < limbCount; limb++) {
      words[wordOf(address, lane) + 2 * limb] = Number(rest & limbMask)
      rest >>= BigInt(limbBits)
    }
  }

  return {
    run: instantiate<PointFunctions>(module.bytes(), memory),
    take(pairs) {
      const address = used
      used += pairs * pairBytes
      assert(used <= pageBytes, 'one page is enough')
      return address
    },
    copy: (to, from, pairs) => void words.copyWithin(to / 4, from / 4, (from + pairs * pairBytes) / 4),
    write,
    writeBoth(address, value) {
      write(address, 0, value)
      write(address, 1, value)
    },
    read(address, lane) {
      let value = 0n
      for (let limb = limbCount - 1; limb >= 0; limb--) {
        value = (value << BigInt(limbBits)) + BigInt(words[wordOf(address, lane) + 2 * limb] ?? 0)
      }
      return value % coordinatePrime
    },
  }
}

/** Square roots and inverses, of both lanes. The result lies apart from the base. */
export function createPowers({ run, take }: Pick<PairMemory, 'run' | 'take'>) {
  const [x2, x3, x9, x22, x44, x88] = [take(1), take(1), take(1), take(1), take(1), take(1)]

  /** `result` = `base` to the power of 2^squares, times `factor`. */
  function raise(result: number, base: number, squares: number, factor?: number): void {
    run.square(result, base)
    for (let more = 1; more < squares; more++) run.square(result, result)
    if (factor !== undefined) run.multiply(result, result, factor)
  }

  /** Both roots and inverses are powers whose exponents begin with 223 ones, a zero and 22 ones. */
  function raiseToOnes(result: number, base: number): void {
    raise(x2, base, 1, base)
    raise(x3, x2, 1, base)
    raise(x9, x3, 3, x3)
    raise(x9, x9, 3, x3)
    raise(x44, x9, 2, x2)
    raise(x22, x44, 11, x44)
    raise(x44, x22, 22, x22)
    raise(x88, x44, 44, x44)
    raise(result, x88, 88, x88)
    raise(result, result, 44, x44)
    raise(result, result, 3, x3)
    raise(result, result, 23, x22)
  }

  return {
    root(result: number, base: number): void {
      raiseToOnes(result, base)
      raise(result, result, 6, x2)
      raise(result, result, 2)
    },

    invert(result: number, base: number): void {
      raiseToOnes(result, base)
      raise(result, result, 5, base)
      raise(result, result, 3, x2)
      raise(result, result, 2, base)
    },
  }
}
