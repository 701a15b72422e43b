/**
 * Tables of events. A row is the one declaration of its event: the log writes it, the metrics count it,
 * `docs/reference/log-events.md` prints it, and its type follows from its fields.
 */

/** The meaning of a field. The type of its value is known to the compiler alone. */
type Field<T, Needed extends boolean> = string & { readonly holds?: T; readonly needed?: Needed }

export const field = <T>(about: string) => about as Field<T, true>
/** A field that an event may lack. */
export const optional = <T>(about: string) => about as Field<T, false>

type Fields = Readonly<Record<string, Field<unknown, boolean>>>

const at =
  <const L extends 'info' | 'warn' | 'error'>(level: L) =>
  <F extends Fields = Record<never, never>>(about: string, fields = {} as F) => ({ level, about, fields })
export const [info, warn, error] = [at('info'), at('warn'), at('error')]

/** The events of a table. */
export type EventIn<Table extends Readonly<Record<string, { readonly fields: Fields }>>> = {
  [Event in keyof Table]: { readonly event: Event } & Told<Table[Event]['fields']>
}[keyof Table]

type Told<F> = {
  readonly [Name in keyof F as F[Name] extends Field<unknown, true> ? Name : never]: Held<F[Name]>
} & {
  readonly [Name in keyof F as F[Name] extends Field<unknown, true> ? never : Name]?: Held<F[Name]>
}

type Held<F> = F extends Field<infer T, boolean> ? T : never
