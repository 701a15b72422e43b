import type { ProofInput } from './message.js'
import { ProverError } from './prover-error.js'

/** Computes all wires of a circuit from its inputs. */
export type WitnessProgram = {
  /**
   * 32 little-endian bytes for each wire. Throws `bad_input` when an input is missing, superfluous or of the wrong
   * length, or when the circuit refuses it.
   */
  calculate(input: ProofInput): Uint8Array
}

const wireBytes = 32
const wireWords = wireBytes / 4

/** The exports of a circom 2 program that are used here. */
type Exports = {
  readonly memory: { readonly buffer: ArrayBuffer }
  readonly init: (checked: number) => void
  readonly getFieldNumLen32: () => number
  readonly getSharedRWMemoryStart: () => number
  readonly getInputSize: () => number
  readonly getInputSignalSize: (hashHigh: number, hashLow: number) => number
  readonly setInputSignal: (hashHigh: number, hashLow: number, index: number) => void
  readonly getWitnessSize: () => number
  readonly getWitness: (wire: number) => void
  readonly getMessageChar: () => number
}

/** The part of the WebAssembly API that is used here. TypeScript declares it only for browsers. */
type Platform = {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object, imports: object) => { readonly exports: unknown }
}

const { WebAssembly: platform } = globalThis as unknown as { readonly WebAssembly: Platform }

/** Why a program failed, by the number that it passes to the exception handler. */
const failures = [
  'it failed without a reason',
  'a signal is not one of its inputs',
  'too many signals were set',
  'a signal was set twice',
  'an assertion does not hold',
  'it ran out of memory',
  'an array of inputs is too long',
] as const

/** Signals are addressed by the 64-bit FNV-1a hash of their name. */
function hashOf(name: string): readonly [high: number, low: number] {
  let hash = 0xcbf2_9ce4_8422_2325n
  for (const byte of new TextEncoder().encode(name)) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100_0000_01b3n)
  }
  return [Number(hash >> 32n), Number(hash & 0xffff_ffffn)]
}

export function loadWitnessProgram(bytes: Uint8Array, prime: bigint): WitnessProgram {
  const module = new platform.Module(bytes)
  let started: Exports | undefined

  function start(): Exports {
    let program: Exports | undefined
    let message = ''
    const readMessage = () => {
      let text = ''
      for (let code = program?.getMessageChar(); code; code = program?.getMessageChar()) {
        text += String.fromCharCode(code)
      }
      message = text.trim()
    }
    const runtime = {
      exceptionHandler(code: number) {
        const reason = failures[code] ?? failures[0]
        throw new ProverError('bad_input', `the circuit refuses its inputs: ${message || reason}`)
      },
      printErrorMessage: readMessage,
      // A circuit's log output is ignored, but it must be read out of the buffer.
      writeBufferMessage: readMessage,
      showSharedRWMemory() {},
    }
    program = new platform.Instance(module, { runtime }).exports as Exports
    if (program.getFieldNumLen32() !== wireWords) {
      throw new ProverError('bad_artifacts', 'the witness program works in another field')
    }
    return program
  }

  /** Sets every signal. The program starts to compute when the last one is set. */
  function setInputs(program: Exports, input: ProofInput): void {
    const shared = new Uint32Array(program.memory.buffer, program.getSharedRWMemoryStart(), wireWords)
    let count = 0
    for (const [name, given] of Object.entries(input)) {
      const values = typeof given === 'bigint' ? [given] : given
      const [high, low] = hashOf(name)
      const size = program.getInputSignalSize(high, low)
      if (size < 0) throw new ProverError('bad_input', `the circuit has no input ${name}`)
      if (size !== values.length) {
        throw new ProverError('bad_input', `input ${name} has ${values.length} values instead of ${size}`)
      }
      values.forEach((value, index) => {
        if (value < 0n || value >= prime) {
          throw new ProverError('bad_input', `input ${name} is not a number of the field`)
        }
        for (let word = 0; word < wireWords; word++) {
          shared[word] = Number((value >> BigInt(32 * word)) & 0xffff_ffffn)
        }
        program.setInputSignal(high, low, index)
        count += 1
      })
    }
    if (count !== program.getInputSize()) {
      throw new ProverError(
        'bad_input',
        `the circuit needs ${program.getInputSize()} values and got ${count}`,
      )
    }
  }

  function wiresOf(program: Exports): Uint8Array {
    const wires = new Uint8Array(program.getWitnessSize() * wireBytes)
    const shared = new Uint8Array(program.memory.buffer, program.getSharedRWMemoryStart(), wireBytes)
    for (let wire = 0; wire * wireBytes < wires.length; wire++) {
      program.getWitness(wire)
      wires.set(shared, wire * wireBytes)
    }
    return wires
  }

  return {
    calculate(input) {
      const program = started ?? start()
      // After a failure the instance is dropped, and its state with it.
      started = undefined
      program.init(1)
      setInputs(program, input)
      const wires = wiresOf(program)
      started = program
      return wires
    },
  }
}
