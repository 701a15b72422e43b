/** Memory of generated code. Growing it invalidates all views of `buffer`. */
export type WasmMemory = { readonly buffer: ArrayBuffer; grow(pages: number): number }

/** The part of the WebAssembly API that is used here. TypeScript declares it only for browsers. */
type Platform = {
  readonly Memory: new (size: { readonly initial: number }) => WasmMemory
  readonly Module: new (bytes: Uint8Array<ArrayBuffer>) => object
  readonly Instance: new (module: object, imports: object) => { readonly exports: unknown }
}

const { WebAssembly: platform } = globalThis as unknown as { readonly WebAssembly: Platform }

/** Bytes of a page, the unit in which memory is sized. */
export const pageBytes = 65_536

export function createMemory(pages: number): WasmMemory {
  return new platform.Memory({ initial: pages })
}

/** Compiles and starts a module over the memory. The type says what the module was built to export. */
export function instantiate<Exports>(bytes: Uint8Array<ArrayBuffer>, memory: WasmMemory): Exports {
  return new platform.Instance(new platform.Module(bytes), { env: { memory } }).exports as Exports
}
