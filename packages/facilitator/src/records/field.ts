/**
 * A field is one property of a stored record. A field has three forms: a value for JSON, a reader of JSON, and a
 * reader of the text of a journal line. A table of fields makes a record, and a record is again a field of a larger one.
 */
import { SvcError } from '@svc-zerc20/protocol'

export type Field<T> = {
  /** The value as `JSON.stringify` takes it. */
  toJson(value: T): unknown
  /** Throws `SvcError('journal_corrupt')` for a value that `toJson` never gives. */
  fromJson(raw: unknown): T
  readonly text: TextForm<T>
  /** The name of the field on the disk, where it is not the name of its property. */
  readonly storedAs?: string
}

/** A field that a record may lack. */
export type OptionalField<T> = Field<T> & {
  readonly isOptional: true
  /** The readers give a value for a missing field. Without this mark the record then has no such property. */
  readonly hasDefault?: true
}

/**
 * The text of the field in a journal line of this version, as a regular expression. The expression matches only text
 * that `fromJson` accepts with the same meaning, so that a replay needs neither a JSON parser nor further checks.
 */
export type TextForm<T> = {
  readonly pattern: string
  /** The number of groups in the pattern. */
  readonly groups: number
  /** The index of a group that is set whenever the pattern matched. */
  readonly sureGroup: number
  /** `first` is the index of the pattern's first group among all groups of the match. */
  fromGroups(groups: Groups, first: number): T
}

export type Groups = readonly (string | undefined)[]

/** A field whose pattern has one group. */
export const simple = <T>(form: {
  toJson?(value: T): unknown
  fromJson(raw: unknown): T
  pattern: string
  /** Absent for a field whose value is the text. */
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

/** Fields without `fromText` are read without a further call: a start reads hundreds of thousands of them. */
const fromOneGroup = <T>(fromText: ((text: string) => T) | undefined): TextForm<T>['fromGroups'] =>
  fromText ? (groups, first) => fromText(groups[first] as string) : (groups, first) => groups[first] as T

/** A field under another name on the disk: what older versions wrote stays readable. */
export const storedAs = <T>(name: string, field: Field<T>): Field<T> => ({ ...field, storedAs: name })

export const optional = <T>(field: Field<T>): OptionalField<T> => ({ ...field, isOptional: true })

/** A reader that throws `SvcError('journal_corrupt')` with the name of the expected kind. */
export const required =
  <T>(what: string, parse: (value: unknown) => T | undefined) =>
  (value: unknown): T => {
    const parsed = parse(value)
    if (parsed === undefined) throw corrupt(`${JSON.stringify(value)} is no ${what}`)
    return parsed
  }

export const corrupt = (why: string) => new SvcError('journal_corrupt', why)
