import { type Field, limbsOf } from '../field.js'
import type { Lanes } from '../lanes.js'
import type { WasmMemory } from '../wasm/instance.js'
import type { Row } from './scaling.js'
import { spreadConstant } from './spread-element.js'

/** Allocates places in a memory one after the other, and records their initial contents. */
export type Layout = {
  reserve(bytes: number): number
  /** A value as an element, the same in all lanes. */
  element(value: bigint): number
  /** Factors and constant of a row. Consecutive calls for rows of one length give equally spaced addresses. */
  row(row: Row): number
  size(): number
  write(memory: WasmMemory): void
}

const alignment = 16

export function createLayout(field: Field, lanes: Lanes): Layout {
  const held: { readonly address: number; readonly operands: readonly number[] }[] = []
  let end = 0

  function reserve(bytes: number): number {
    const address = end
    end = Math.ceil((address + bytes) / alignment) * alignment
    return address
  }
  const hold = (operands: readonly number[]) => {
    const address = reserve(operands.length * lanes.limbBytes)
    held.push({ address, operands })
    return address
  }

  return {
    reserve,
    element: (value) => hold(limbsOf(field.enter(value))),
    row({ factors, constant }) {
      const spread = factors.map((factor) => spreadConstant(field.enter(factor)))
      return hold([...spread.flat(), ...limbsOf(field.enter(constant))])
    },
    size: () => end,
    write(memory) {
      const words = new Uint32Array(memory.buffer)
      for (const { address, operands } of held) {
        let word = address / 4
        for (const operand of operands) {
          words.fill(operand, word, word + lanes.count)
          word += lanes.count
        }
      }
    },
  }
}
