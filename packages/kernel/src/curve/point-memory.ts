import { elementBytes, limbCount, limbsOf, numberOf } from '../field.js'
import { createMemory, instantiate, pageBytes } from '../wasm/instance.js'
import { createModule } from '../wasm/module.js'
import { type BatchFunctions, defineBatchFunctions, scratchBytes } from './batch-functions.js'
import { coordinateBytes, coordinatePairBytes } from './coordinate.js'
import type { Curve } from './curve.js'
import type { Point } from './group.js'
import { baseBytes, definePointFunctions, keyPointBytes, type PointFunctions } from './point-functions.js'

/** Reserved at the start of memory, so that no address is zero. */
const reservedBytes = 64

/** A memory with points of one curve in it, and the functions over them. */
export type PointMemory<Value> = {
  readonly functions: BatchFunctions & PointFunctions
  /** Allocates memory that is never freed. Invalidates earlier views. */
  allocate(bytes: number): number
  /** A view of space that was allocated. */
  words(address: number, count: number): Int32Array
  /** Imports points of a proving key. Returns the address of the first. */
  importPoints(points: Uint8Array): number
  /** The point at an address, its negative for an odd one. */
  readPoint(address: number): { readonly x: Value; readonly y: Value }
  /** Writes x and y, without −y. */
  writePoint(address: number, point: Exclude<Point<Value>, undefined>): void
  /** One of two interleaved coordinates. */
  readLane(address: number, lane: number): Value
  writeLane(address: number, lane: number, value: Value): void
}

export function createPointMemory<Value>({ shape, group }: Curve<Value>): PointMemory<Value> {
  const { field } = shape
  const { numbers } = group
  const memory = createMemory(1)
  const module = createModule()
  const scratch = reservedBytes
  let top = scratch + scratchBytes(shape)
  defineBatchFunctions(module, { shape, scratch })
  definePointFunctions(module, shape)
  const functions = instantiate<BatchFunctions & PointFunctions>(module.bytes(), memory)

  function allocate(bytes: number): number {
    const address = top
    top += Math.ceil(bytes / 8) * 8
    // Eight spare bytes, because imports read a few bytes past the last number.
    const missing = Math.ceil((top + 8) / pageBytes) - memory.buffer.byteLength / pageBytes
    if (missing > 0) memory.grow(missing)
    return address
  }

  const words = (address: number, count: number) => new Int32Array(memory.buffer, address, count)
  const partsAt = (limbs: (part: number) => ArrayLike<number>) =>
    numbers.of(Array.from({ length: shape.degree }, (_, part) => field.leave(numberOf(limbs(part)))))

  const readCoordinate = (address: number): Value =>
    partsAt((part) => new Uint32Array(memory.buffer, address + part * elementBytes, limbCount))

  function writeCoordinate(address: number, value: Value): void {
    const limbs = numbers.parts(value).flatMap((part) => limbsOf(field.enter(part)))
    words(address, limbs.length).set(limbs)
  }

  return {
    functions,
    allocate,
    words,
    importPoints(points) {
      const count = points.byteLength / keyPointBytes(shape)
      const bases = allocate(count * baseBytes(shape))
      const step = 256
      const before = top
      const staging = allocate(step * keyPointBytes(shape))
      for (let first = 0; first < count; first += step) {
        const part = points.subarray(first * keyPointBytes(shape), (first + step) * keyPointBytes(shape))
        new Uint8Array(memory.buffer, staging, part.length).set(part)
        functions.importPoints(bases + first * baseBytes(shape), staging, part.length / keyPointBytes(shape))
      }
      top = before
      return bases
    },
    readPoint(address) {
      const isNegative = address % 2
      const start = address - isNegative
      return {
        x: readCoordinate(start),
        y: readCoordinate(start + (1 + isNegative) * coordinateBytes(shape)),
      }
    },
    writePoint(address, { x, y }) {
      writeCoordinate(address, x)
      writeCoordinate(address + coordinateBytes(shape), y)
    },
    readLane(address, lane) {
      const all = new Uint32Array(memory.buffer, address, coordinatePairBytes(shape) / 4)
      return partsAt((part) =>
        Array.from({ length: limbCount }, (_, limb) => all[2 * (part * limbCount + limb) + lane] ?? 0),
      )
    },
    writeLane(address, lane, value) {
      const all = new Uint32Array(memory.buffer, address, coordinatePairBytes(shape) / 4)
      const limbs = numbers.parts(value).flatMap((part) => limbsOf(field.enter(part)))
      limbs.forEach((limb, index) => {
        all[2 * index + lane] = limb
      })
    },
  }
}
