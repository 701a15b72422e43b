/** Keccak-256 as Ethereum uses it. A block takes about a microsecond, where plain JavaScript takes twenty. */
import { type Code, control, i32, i64 } from './wasm/code.js'
import { createMemory, instantiate, pageBytes } from './wasm/instance.js'
import { createModule, type Local } from './wasm/module.js'

type Keccak = (message: Uint8Array) => Uint8Array

/** Bytes that one permutation takes in. */
const blockBytes = 136
const hashBytes = 32
const laneCount = 25
const roundCount = 24
/** Memory: the hash, the constants of the rounds, then the message. */
const constantsAt = 64
const messageAt = 256

let made: Keccak | undefined

/** Compiled at the first call. */
export const keccak256: Keccak = (message) => {
  made ??= createKeccak()
  return made(message)
}

function createKeccak(): Keccak {
  const memory = createMemory(1)
  const { hash } = instantiate<{ hash(blocks: number): void }>(keccakModule(), memory)
  let bytes = new Uint8Array(memory.buffer)
  const constants = new DataView(memory.buffer)
  for (const [round, constant] of roundConstants().entries()) {
    constants.setBigUint64(constantsAt + 8 * round, constant, true)
  }
  return (message) => {
    const end = messageAt + message.length
    const blocks = Math.floor(message.length / blockBytes) + 1
    const paddedEnd = messageAt + blocks * blockBytes
    if (paddedEnd > bytes.length) {
      memory.grow(Math.ceil((paddedEnd - bytes.length) / pageBytes))
      bytes = new Uint8Array(memory.buffer)
    }
    bytes.set(message, messageAt)
    bytes.fill(0, end, paddedEnd)
    bytes[end] = 0x01
    bytes[paddedEnd - 1] = (bytes[paddedEnd - 1] ?? 0) | 0x80
    hash(blocks)
    return bytes.slice(0, hashBytes)
  }
}

/** `hash(blocks)` absorbs the padded message. The whole state is in locals. */
function keccakModule() {
  const module = createModule()
  module.define({
    params: ['i32'],
    exportAs: 'hash',
    body(scope) {
      const blocks = scope.param(0)
      const from = scope.local('i32')
      const round = scope.local('i32')
      const lanes = Array.from({ length: laneCount }, () => scope.local('i64'))
      const moved = lanes.map(() => scope.local('i64'))
      const columns = Array.from({ length: 5 }, () => scope.local('i64'))
      const absorb = lanes
        .slice(0, blockBytes / 8)
        .map((lane, i) => lane.set(i64.xor(lane.get, i64.load(from.get, 8 * i))))
      return [
        from.set(i32.const(messageAt)),
        control.forever([
          control.leaveIf(1, i32.eqz(blocks.get)),
          absorb,
          round.set(i32.const(0)),
          control.forever([
            permuteRound({ lanes, moved, columns }, i64.load(round.get, constantsAt)),
            round.set(i32.add(round.get, i32.const(8))),
            control.leaveIf(1, i32.eq(round.get, i32.const(8 * roundCount))),
          ]),
          from.set(i32.add(from.get, i32.const(blockBytes))),
          blocks.set(i32.sub(blocks.get, i32.const(1))),
        ]),
        lanes.slice(0, hashBytes / 8).map((lane, i) => i64.store(i32.const(0), lane.get, 8 * i)),
      ]
    },
  })
  return module.bytes()
}

type State = {
  readonly lanes: readonly Local[]
  readonly moved: readonly Local[]
  readonly columns: readonly Local[]
}

/** One round of Keccak-f[1600]. Lane (x, y) is at x + 5 y. */
function permuteRound({ lanes, moved, columns }: State, constant: Code): Code {
  const at = (all: readonly Local[], x: number, y: number): Local => all[(x % 5) + 5 * (y % 5)] as Local
  const column = (x: number): Local => columns[x % 5] as Local
  const places = Array.from({ length: laneCount }, (_, i) => ({ x: i % 5, y: Math.floor(i / 5) }))
  const sums = columns.map((sum, x) =>
    sum.set([0, 1, 2, 3, 4].map((y) => at(lanes, x, y).get).reduce((left, right) => i64.xor(left, right))),
  )
  const mix = (x: number): Code => i64.xor(column(x + 4).get, i64.rotl(column(x + 1).get, i64.const(1)))
  const rotated = places.map(({ x, y }) =>
    at(moved, y, 2 * x + 3 * y).set(
      i64.rotl(i64.xor(at(lanes, x, y).get, mix(x)), i64.const(rotations[x + 5 * y] ?? 0)),
    ),
  )
  const chosen = places.map(({ x, y }) => {
    const others = i64.and(i64.xor(at(moved, x + 1, y).get, i64.const(-1)), at(moved, x + 2, y).get)
    return at(lanes, x, y).set(i64.xor(at(moved, x, y).get, others))
  })
  const [first] = lanes as [Local]
  return [sums, rotated, chosen, first.set(i64.xor(first.get, constant))]
}

/** How far each lane is rotated: triangular numbers along the walk (x, y) → (y, 2x + 3y). */
const rotations = ((): readonly number[] => {
  const by = new Array<number>(laneCount).fill(0)
  let [x, y] = [1, 0]
  for (let step = 1; step < laneCount; step++) {
    by[x + 5 * y] = ((step * (step + 1)) / 2) % 64
    ;[x, y] = [y, (2 * x + 3 * y) % 5]
  }
  return by
})()

/** The constants of the rounds: bits of a linear feedback shift register, at the places 2^j - 1. */
function roundConstants(): readonly bigint[] {
  let register = 1
  const nextBit = (): bigint => {
    const bit = register & 1
    register = register & 0x80 ? ((register << 1) ^ 0x171) & 0xff : register << 1
    return BigInt(bit)
  }
  return Array.from({ length: roundCount }, () =>
    [0, 1, 2, 3, 4, 5, 6].reduce((sum, j) => sum | (nextBit() << BigInt(2 ** j - 1)), 0n),
  )
}
