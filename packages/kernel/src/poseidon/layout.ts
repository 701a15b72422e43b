import { elementBytes, type Field, limbsOf } from '../field.js'
import type { WasmMemory } from '../wasm/instance.js'
import { rowBytes } from './functions.js'
import type { Row } from './scaling.js'
import { spreadConstant } from './spread-element.js'

/** Allocates places in a memory one after the other, and records their initial contents. */
export type Layout = {
  reserve(bytes: number): number
  /** A value as an element. */
  element(value: bigint): number
  /** Factors and constant of a row. Consecutive calls for rows of one length give equally spaced addresses. */
  row(row: Row): number
  size(): number
  write(memory: WasmMemory): void
}

const alignment = 16

export function createLayout(field: Field): Layout {
  const held: { readonly address: number; readonly words: readonly number[] }[] = []
  let end = 0

  function reserve(bytes: number): number {
    const address = end
    end = Math.ceil((address + bytes) / alignment) * alignment
    return address
  }
  const hold = (bytes: number, words: readonly number[]) => {
    const address = reserve(bytes)
    held.push({ address, words })
    return address
  }

  return {
    reserve,
    element: (value) => hold(elementBytes, limbsOf(field.enter(value))),
    row({ factors, constant }) {
      const spread = factors.map((factor) => spreadConstant(field.enter(factor)))
      return hold(rowBytes(factors.length), [...spread.flat(), ...limbsOf(field.enter(constant))])
    },
    size: () => end,
    write(memory) {
      const words = new Uint32Array(memory.buffer)
      for (const { address, words: content } of held) words.set(content, address / 4)
    },
  }
}
