/** Generated WebAssembly of the curve, with the places of its constants in memory. */
declare module 'wasmcurves/build/bn128_wasm.js' {
  const curve: {
    readonly code: string
    readonly pG1gen: number
    readonly pG2gen: number
  }
  export default curve
}
