import { elementBytes, type Field, limbCount, limbsOf, numberOf } from './field.js'
import type { WasmMemory } from './wasm/instance.js'

/** Writes a value into memory as an element in Montgomery form. */
export function writeElement(field: Field, memory: WasmMemory, address: number, value: bigint): void {
  new Uint32Array(memory.buffer, address, limbCount).set(limbsOf(field.enter(value)))
}

/** Reads the value of an element, reduced. */
export function readElement(field: Field, memory: WasmMemory, address: number): bigint {
  return field.leave(numberOf(new Uint32Array(memory.buffer, address, elementBytes / 4)))
}
