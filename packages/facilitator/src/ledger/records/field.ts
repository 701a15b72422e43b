/**
 * One field of a record, in its three forms: as JSON, read back from JSON, and read from the text of a journal line.
 * A table of fields makes a record, which is again a field of a larger one.
 */
import { SvcError } from '@svc-zerc20/protocol'

export type Field<T> = {
  /** A value for `JSON.stringify`. */
  toJson(value: T): unknown
  /** Throws `SvcError('journal_corrupt')` when no `toJson` wrote this. */
  fromJson(raw: unknown): T
  readonly text: TextForm<T>
}

/** A field that a record may lack. */
export type OptionalField<T> = Field<T> & {
  readonly isOptional: true
  /** Its readers give a value for `undefined`; without this the record has no such property either. */
  readonly hasDefault?: true
}

/**
 * How this version writes the field into a line, as a regular expression. The expression matches only text that
 * `fromJson` accepts, and means the same: replay then needs neither JSON nor the checks.
 */
export type TextForm<T> = {
  readonly pattern: string
  /** How many groups the pattern has. */
  readonly groups: number
  /** The number of a group that is set whenever the pattern matched. */
  readonly sureGroup: number
  /** `first` is the place of the pattern's first group. */
  fromGroups(groups: Groups, first: number): T
}

export type Groups = readonly (string | undefined)[]

/** A field whose pattern has one group. */
export const simple = <T>(form: {
  toJson?(value: T): unknown
  fromJson(raw: unknown): T
  pattern: string
  /** Absent when the value is the text. */
  fromText?: (text: string) => T
}): Field<T> => ({
  toJson: form.toJson ?? ((value) => value),
  fromJson: form.fromJson,
  text: {
    pattern: form.pattern,
    groups: 1,
    sureGroup: 0,
    fromGroups: fromOneGroup(form.fromText),
  },
})

/** One call less for most fields: a start reads hundreds of thousands of them. */
const fromOneGroup = <T>(fromText: ((text: string) => T) | undefined): TextForm<T>['fromGroups'] =>
  fromText ? (groups, first) => fromText(groups[first] as string) : (groups, first) => groups[first] as T

export const optional = <T>(field: Field<T>): OptionalField<T> => ({ ...field, isOptional: true })

/** A reader that throws `SvcError('journal_corrupt')` naming what it expected. */
export const required =
  <T>(what: string, parse: (value: unknown) => T | undefined) =>
  (value: unknown): T => {
    const parsed = parse(value)
    if (parsed === undefined) throw corrupt(`${JSON.stringify(value)} is no ${what}`)
    return parsed
  }

export const corrupt = (why: string) => new SvcError('journal_corrupt', why)
