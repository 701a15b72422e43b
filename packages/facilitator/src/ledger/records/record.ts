/** A table of fields as one record: its JSON object, and the text of that object in a journal line. */
import type { Field, Groups, OptionalField, TextForm } from './field.js'

/** One field for every property. The order is that of the JSON text. */
export type Fields<T> = {
  readonly [Name in keyof T]-?: Record<never, never> extends Pick<T, Name>
    ? OptionalField<Exclude<T[Name], undefined>>
    : Field<T[Name]>
}

type Raw = Readonly<Record<string, unknown>>

/** A field with its name and the place of its groups among those of its record. */
type Placed = {
  readonly name: string
  readonly field: Field<unknown> & Partial<OptionalField<unknown>>
  readonly first: number
  readonly fromGroups: TextForm<unknown>['fromGroups']
  /** The group that is not set when the field is missing; undefined for a field that is always read. */
  readonly sure: number | undefined
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

/** The fields of an event behind its name, which all of them follow. */
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

/** Before it a match has the whole line. */
const firstGroup = 1

function placesOf(fields: object): Placed[] {
  let first = 0
  return Object.entries(fields as Readonly<Record<string, Placed['field']>>).map(([name, field]) => {
    const { groups, sureGroup, fromGroups } = field.text
    const sure = mayBeMissing(field) ? first + sureGroup : undefined
    first += groups
    return { name, field, first: first - groups, fromGroups, sure }
  })
}

function jsonOf(placed: readonly Placed[], value: Raw): Record<string, unknown> {
  const json: Record<string, unknown> = {}
  for (const { name, field } of placed) {
    const part = value[name]
    if (part !== undefined) json[name] = field.toJson(part)
  }
  return json
}

/** In the order of the table, so that the first field that is wrong is the one that is named. */
function readJson(placed: readonly Placed[], raw: Raw): Record<string, unknown> {
  const value: Record<string, unknown> = {}
  for (const { name, field } of placed) {
    const part = raw[name]
    if (part !== undefined || !mayBeMissing(field)) value[name] = field.fromJson(part)
  }
  return value
}

type Reader<T> = (groups: Groups, at: number) => T

/** One reader for every set of optional fields that occurs. `event` is the first property where it is given. */
function readerOf<T>(placed: readonly Placed[], event?: string): Reader<T> {
  const sure = placed.flatMap((each) => each.sure ?? [])
  const readers: Reader<T>[] = []
  return (groups, at) => {
    let missing = 0
    for (let i = 0; i < sure.length; i++) if (groups[at + (sure[i] ?? 0)] === undefined) missing |= 1 << i
    const known = readers[missing]
    if (known) return known(groups, at)
    const isPresent = (each: Placed) => each.sure === undefined || groups[at + each.sure] !== undefined
    const read = literalReaderOf<T>(placed.filter(isPresent), event)
    readers[missing] = read
    return read(groups, at)
  }
}

/**
 * Forms the object as one literal, which is written out from the table. Filling an object name by name made the replay
 * of 100 000 payments a tenth slower.
 */
function literalReaderOf<T>(placed: readonly Placed[], event: string | undefined): Reader<T> {
  const properties = placed.map(({ name, first }, i) => `${name}: readers[${i}](groups, at + ${first})`)
  const literal = [...(event === undefined ? [] : [`event: '${event}'`]), ...properties].join(', ')
  const bind = new Function('readers', `return (groups, at) => ({ ${literal} })`)
  return bind(placed.map(({ fromGroups }) => fromGroups)) as Reader<T>
}

const mayBeMissing = ({ isOptional, hasDefault }: Placed['field']) => isOptional === true && !hasDefault

function textOf(placed: readonly Placed[]): Pick<TextForm<unknown>, 'groups' | 'sureGroup'> {
  const sure = placed.find(({ field }) => !field.isOptional)
  return {
    groups: placed.reduce((sum, { field }) => sum + field.text.groups, 0),
    sureGroup: sure ? sure.first + sure.field.text.sureGroup : 0,
  }
}

/** Fields that may be missing bring their comma along; in front of the first sure field it stands behind them. */
function bodyOf(placed: readonly Placed[]): string {
  const firstSure = placed.findIndex(({ field }) => !field.isOptional)
  return placed
    .map((each, i) => patternOf(each, i < firstSure ? 'behind' : i === firstSure ? 'none' : 'before'))
    .join('')
}

function patternOf({ name, field }: Placed, comma: 'before' | 'behind' | 'none'): string {
  const bare = `"${name}":${field.text.pattern}`
  const separated = comma === 'before' ? `,${bare}` : comma === 'behind' ? `${bare},` : bare
  return field.isOptional ? `(?:${separated})?` : separated
}
