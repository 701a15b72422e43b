import { type Code, flatten, unsigned, type ValueType, valueTypeByte } from './code.js'

/** A local variable or parameter of a function under construction. */
export type Local = {
  readonly get: Code
  set(value: Code): Code
  /** Sets the local and leaves the value on the stack. */
  tee(value: Code): Code
}

/** The parameters and locals for the body of a function. */
export type FunctionScope = {
  /** The parameter at a position. */
  param(at: number): Local
  local(type: ValueType): Local
}

export type FunctionSpec = {
  readonly params: readonly ValueType[]
  readonly result?: ValueType
  /** Name under which the instance exports the function. Without one it is internal. */
  readonly exportAs?: string
  readonly body: (scope: FunctionScope) => Code
}

/** A WebAssembly module under construction. Its memory is imported, so that modules may share one. */
export type ModuleBuilder = {
  /** The index to call the function by. Functions may call those defined before them. */
  define(spec: FunctionSpec): number
  bytes(): Uint8Array<ArrayBuffer>
}

type Built = { readonly type: number[]; readonly body: number[]; readonly exportAs: string | undefined }

/** Magic number and version. */
const preamble = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00]
const sectionIds = { type: 1, import: 2, function: 3, export: 7, code: 10 } as const

const sized = (bytes: readonly number[]): number[] => [...unsigned(bytes.length), ...bytes]
const vector = (items: readonly (readonly number[])[]): number[] => [
  ...unsigned(items.length),
  ...items.flat(),
]
const section = (id: number, items: readonly (readonly number[])[]): Code => {
  const count = unsigned(items.length)
  const length = items.reduce((sum, item) => sum + item.length, count.length)
  return [id, unsigned(length), count, items]
}
const name = (text: string): number[] => sized([...new TextEncoder().encode(text)])

function localOf(index: number): Local {
  const at = unsigned(index)
  return { get: [0x20, at], set: (value) => [value, 0x21, at], tee: (value) => [value, 0x22, at] }
}

function build(spec: FunctionSpec): Built {
  const locals: ValueType[] = []
  const scope: FunctionScope = {
    param: localOf,
    local(type) {
      locals.push(type)
      return localOf(spec.params.length + locals.length - 1)
    },
  }
  const body = spec.body(scope)
  const declarations = locals.map((type) => [1, valueTypeByte[type]])
  const typesOf = (types: readonly ValueType[]) => vector(types.map((type) => [valueTypeByte[type]]))
  return {
    type: [0x60, ...typesOf(spec.params), ...typesOf(spec.result === undefined ? [] : [spec.result])],
    body: sized(flatten([vector(declarations), body, 0x0b])),
    exportAs: spec.exportAs,
  }
}

export function createModule(): ModuleBuilder {
  const functions: Built[] = []
  return {
    define(spec) {
      functions.push(build(spec))
      return functions.length - 1
    },
    bytes() {
      const exported = functions.flatMap(({ exportAs }, index) =>
        exportAs === undefined ? [] : [[...name(exportAs), 0x00, ...unsigned(index)]],
      )
      const memory = [...name('env'), ...name('memory'), 0x02, 0x00, 0x00]
      return Uint8Array.from(
        flatten([
          preamble,
          section(
            sectionIds.type,
            functions.map(({ type }) => type),
          ),
          section(sectionIds.import, [memory]),
          section(
            sectionIds.function,
            functions.map((_, index) => unsigned(index)),
          ),
          section(sectionIds.export, exported),
          section(
            sectionIds.code,
            functions.map(({ body }) => body),
          ),
        ]),
      )
    },
  }
}
