import { elementBytes, type Field } from '../field.js'
import { defineField, type FieldFunctions } from '../field-functions.js'
import { type Code, control, i32 } from '../wasm/code.js'
import type { Local, ModuleBuilder } from '../wasm/module.js'
import { defineExport, defineImport, enteringFactor, numberBytes } from '../words.js'

/** Three addresses for one term: the two factors, and the element to which their product is added. */
export const termBytes = 12

/** Elementwise work on lists of elements; every count is one of elements. */
export type EvaluationFunctions = {
  /** (elements, numbers, count): plain numbers. */
  readonly importNumbers: (elements: number, numbers: number, count: number) => void
  /** (elements, numbers, count): coefficients as proving keys have them, times 2^512. */
  readonly importCoefficients: (elements: number, numbers: number, count: number) => void
  /** (terms, count): adds products to elements, which stay below 1. */
  readonly addProducts: (terms: number, count: number) => void
  /** (results, a, b, count) */
  readonly multiplyAll: (results: number, a: number, b: number, count: number) => void
  /** (results, ratio, count): each result is the one before it times the ratio. */
  readonly powers: (results: number, ratio: number, count: number) => void
  /** (numbers, a, b, c, count): a·b − c as plain numbers; a, b and c below 40. */
  readonly exportDifferences: (numbers: number, a: number, b: number, c: number, count: number) => void
}

/** Bits by which coefficients of proving keys are shifted: twice the Montgomery radix used there. */
const coefficientShift = 512n

export type EvaluationOptions = {
  readonly field: Field
  /** Room for two elements. */
  readonly scratch: number
  /** Address of the element one. */
  readonly one: number
}

export function defineEvaluationFunctions(module: ModuleBuilder, options: EvaluationOptions): void {
  const { field } = options
  const arithmetic = defineField(module, { field })
  const entering = enteringFactor(field)
  const numbers = defineImport(module, field, entering)
  const coefficients = defineImport(
    module,
    field,
    (entering * field.inverse(1n << coefficientShift)) % field.prime,
  )
  const exportNumber = defineExport(module, field)
  const step = elementBytes
  defineLoop(module, 'importNumbers', [step, numberBytes], ([to, from]) => control.call(numbers, to, from))
  defineLoop(module, 'importCoefficients', [step, numberBytes], ([to, from]) =>
    control.call(coefficients, to, from),
  )
  defineLoop(module, 'multiplyAll', [step, step, step], ([to, a, b]) =>
    control.call(arithmetic.multiply, to, a, b),
  )
  defineLoop(module, 'powers', [step, 0], ([before, ratio]) =>
    control.call(arithmetic.multiply, i32.add(before, i32.const(step)), before, ratio),
  )
  defineLoop(module, 'addProducts', [termBytes], ([term]) => addProduct(arithmetic, options, term))
  defineLoop(module, 'exportDifferences', [numberBytes, step, step, step], ([to, a, b, c]) => {
    const [product, reduced] = [i32.const(options.scratch), i32.const(options.scratch + step)]
    return [
      control.call(arithmetic.multiply, product, a, b),
      // Multiplying by one reduces c: a subtraction allows at most four times the prime.
      control.call(arithmetic.multiply, reduced, c, i32.const(options.one)),
      control.call(arithmetic.subtract, product, product, reduced),
      control.call(exportNumber, to, product),
    ]
  })
}

function addProduct(arithmetic: FieldFunctions, { scratch }: EvaluationOptions, term: Code): Code {
  const product = i32.const(scratch)
  const target = i32.load(term, 8)
  return [
    control.call(arithmetic.multiply, product, i32.load(term), i32.load(term, 4)),
    control.call(arithmetic.add, product, product, target),
    control.call(arithmetic.canonical, target, product),
  ]
}

/** Defines a function (addresses of lists, count). `body` gets the current address in each list, which moves by `steps`. */
function defineLoop<Steps extends readonly number[]>(
  module: ModuleBuilder,
  exportAs: string,
  steps: readonly [...Steps],
  body: (addresses: { readonly [Index in keyof Steps]: Code }) => Code,
): void {
  module.define({
    params: [...steps.map(() => 'i32' as const), 'i32'],
    exportAs,
    body(scope) {
      const lists = steps.map((_, index) => scope.param(index))
      const rest = scope.param(steps.length)
      const forward = (local: Local, by: number) => local.set(i32.add(local.get, i32.const(by)))
      return control.forever([
        control.leaveIf(1, i32.eqz(rest.get)),
        body(lists.map((list) => list.get) as { readonly [Index in keyof Steps]: Code }),
        lists.map((list, index) => forward(list, steps[index] ?? 0)),
        forward(rest, -1),
      ])
    },
  })
}
