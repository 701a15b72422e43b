/** One group of the curve as WebAssembly: its operations, and the memory of their operands. */
import curve from 'wasmcurves/build/bn128_wasm.js'

/** The two groups of the pairing. */
export type Group = 'G1' | 'G2'

/** An operation on addresses in the memory. */
export type Operation = (...places: number[]) => number

export type CurveModule = {
  readonly bytes: Uint8Array
  /** Bytes of an affine point in a key file: coordinates in Montgomery form, infinity as zeros. */
  readonly pointSize: number
  /** Address of the group's generator, in projective form. */
  readonly generator: number
  /** An operation on points. */
  point(name: string): Operation
  /** An operation on coordinates. */
  coordinate(name: string): Operation
  allocate(size: number): number
  /** Runs `use`, then frees the memory that it allocated. */
  borrow(use: () => void): void
}

const names = { G1: { point: 'g1m', coordinate: 'f1m' }, G2: { point: 'g2m', coordinate: 'f2m' } } as const
const pointBytes: Record<Group, number> = { G1: 64, G2: 128 }
const pageBytes = 65_536
const memoryPages = 512

/** The part of the WebAssembly API that is used here. TypeScript declares it only for browsers. */
type Platform = {
  readonly Memory: new (options: { initial: number }) => { readonly buffer: ArrayBuffer }
  readonly Module: new (code: Uint8Array) => object
  readonly Instance: new (module: object, imports: object) => { readonly exports: Record<string, unknown> }
}
const { WebAssembly: platform } = globalThis as unknown as { readonly WebAssembly: Platform }

export function createCurveModule(group: Group): CurveModule {
  const memory = new platform.Memory({ initial: memoryPages })
  const compiled = new platform.Module(Buffer.from(curve.code, 'base64'))
  const { exports } = new platform.Instance(compiled, { env: { memory } })
  const words = new Uint32Array(memory.buffer)

  const operation = (name: string): Operation => {
    const found = exports[name]
    if (typeof found !== 'function') throw new Error(`the curve has no ${name}`)
    return found as Operation
  }

  return {
    bytes: new Uint8Array(memory.buffer),
    pointSize: pointBytes[group],
    generator: group === 'G1' ? curve.pG1gen : curve.pG2gen,
    point: (name) => operation(`${names[group].point}_${name}`),
    coordinate: (name) => operation(`${names[group].coordinate}_${name}`),
    // The module stores the end of its memory at address 0 and allocates temporary memory from there.
    allocate(size) {
      const place = ((words[0] ?? 0) + 7) & ~7
      words[0] = place + size
      if (place + size > memoryPages * pageBytes) throw new Error('the curve memory is too small')
      return place
    },
    borrow(use) {
      const before = words[0] ?? 0
      use()
      words[0] = before
    },
  }
}
