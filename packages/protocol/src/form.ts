/**
 * The form of a value from the wire, checked without a library: this package is in every payer and every shop, and a
 * schema library would be most of what they install.
 */
import { isObject } from './json.js'

/** The first field that has a wrong form, and what is wrong with it. */
export type Fault = { readonly path: readonly string[]; readonly message: string }

/** Finds the fault of a value; undefined when there is none. */
export type Form = (value: unknown) => Fault | undefined

export const form =
  (message: string, isWellFormed: (value: unknown) => boolean): Form =>
  (value) =>
    isWellFormed(value) ? undefined : { path: [], message }

/** The form of a field that may be missing. Null is a value, and so has to have the form. */
export const optional =
  (inner: Form): Form =>
  (value) =>
    value === undefined ? undefined : inner(value)

/** An object with these fields. Other fields are allowed. */
export const objectOf =
  (fields: Readonly<Record<string, Form>>): Form =>
  (value) => {
    if (!isObject(value)) return { path: [], message: 'not an object' }
    for (const [name, inner] of Object.entries(fields)) {
      const fault = inner(value[name])
      if (fault !== undefined) return { path: [name, ...fault.path], message: fault.message }
    }
    return undefined
  }
