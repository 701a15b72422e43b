/** A table of fields makes a record: a JSON object, and the text of that object in a journal line. */
import type { Field, Groups, OptionalField, TextForm } from './field.js'
import { type ReadField, readerOf } from './generated-reader.js'

/** The table: one field for every property, in the order of the JSON text. */
export type Fields<T> = {
  readonly [Name in keyof T]-?: Record<never, never> extends Pick<T, Name>
    ? OptionalField<Exclude<T[Name], undefined>>
    : Field<T[Name]>
}

type Raw = Readonly<Record<string, unknown>>

/** A field of a table, with its name and the place of its groups among the groups of the record. */
type Placed = ReadField & {
  readonly field: Field<unknown> & Partial<OptionalField<unknown>>
  /** The name on the disk. */
  readonly stored: string
}

export function record<T extends object>(fields: Fields<T>): Field<T> {
  const placed = placesOf(fields)
  return {
    toJson: (value) => jsonOf(placed, value as Raw),
    fromJson: (raw) => readJson(placed, raw as Raw) as T,
    text: {
      ...textOf(placed),
      pattern: `\\{${bodyOf(placed)}\\}`,
      fromGroups: readerOf<T>(placed),
    },
  }
}

/** A record for an event: the event's name comes first, and its fields follow. */
export function eventRecord<T extends { readonly event: string }>(
  event: T['event'],
  fields: Fields<Omit<T, 'event'>>,
) {
  const placed = placesOf(fields)
  const read = readerOf<T>(placed, event)
  return {
    toJson: (value: T) => ({ event, ...jsonOf(placed, value as Raw) }),
    fromJson: (raw: Raw) => ({ event, ...readJson(placed, raw) }) as unknown as T,
    pattern: `"event":"${event}"${placed.map((each) => patternOf(each, 'before')).join('')}`,
    fromGroups: (match: Groups) => read(match, firstGroup),
  }
}

/** The index of the first group of a match; index 0 holds the whole line. */
const firstGroup = 1

function placesOf(fields: object): Placed[] {
  let first = 0
  return Object.entries(fields as Readonly<Record<string, Placed['field']>>).map(([name, field]) => {
    const { groups, sureGroup, fromGroups } = field.text
    const sure = mayBeMissing(field) ? first + sureGroup : undefined
    first += groups
    return { name, stored: field.storedAs ?? name, field, first: first - groups, fromGroups, sure }
  })
}

function jsonOf(placed: readonly Placed[], value: Raw): Record<string, unknown> {
  const json: Record<string, unknown> = {}
  for (const { name, stored, field } of placed) {
    const part = value[name]
    if (part !== undefined) json[stored] = field.toJson(part)
  }
  return json
}

/** Reads the fields in the order of the table, so that an error names the first wrong field. */
function readJson(placed: readonly Placed[], raw: Raw): Record<string, unknown> {
  const value: Record<string, unknown> = {}
  for (const { name, stored, field } of placed) {
    const part = raw[stored]
    if (part !== undefined || !mayBeMissing(field)) value[name] = field.fromJson(part)
  }
  return value
}

const mayBeMissing = ({ isOptional, hasDefault }: Placed['field']) => isOptional === true && !hasDefault

function textOf(placed: readonly Placed[]): Pick<TextForm<unknown>, 'groups' | 'sureGroup'> {
  const sure = placed.find(({ field }) => !field.isOptional)
  return {
    groups: placed.reduce((sum, { field }) => sum + field.text.groups, 0),
    sureGroup: sure ? sure.first + sure.field.text.sureGroup : 0,
  }
}

/**
 * The pattern of all fields. An optional field's comma is inside its optional group: in front of the field, or behind it
 * when the field comes before the first field that is always there.
 */
function bodyOf(placed: readonly Placed[]): string {
  const firstSure = placed.findIndex(({ field }) => !field.isOptional)
  return placed
    .map((each, i) => patternOf(each, i < firstSure ? 'behind' : i === firstSure ? 'none' : 'before'))
    .join('')
}

function patternOf({ stored, field }: Placed, comma: 'before' | 'behind' | 'none'): string {
  const bare = `"${stored}":${field.text.pattern}`
  const separated = comma === 'before' ? `,${bare}` : comma === 'behind' ? `${bare},` : bare
  return field.isOptional ? `(?:${separated})?` : separated
}
