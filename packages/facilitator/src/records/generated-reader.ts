/**
 * A reader that turns the groups of a matched line into an object. The reader is generated as source, one object literal
 * for a record: a start makes hundreds of thousands of these objects (ADR 0033).
 */
import { SvcError } from '@svc-zerc20/protocol'
import type { Groups, TextForm } from './field.js'

export type ReadField = {
  readonly name: string
  /** The index of the field's first group among the groups of its record. */
  readonly first: number
  readonly fromGroups: TextForm<unknown>['fromGroups']
  /** The index of the group that is unset when the field is missing; undefined for a field that is always read. */
  readonly sure: number | undefined
}

type Reader<T> = (groups: Groups, at: number) => T

/** `event` is the first property of the object where it is given. */
export function readerOf<T>(fields: readonly ReadField[], event?: string): Reader<T> {
  const sure = fields.flatMap((field) => field.sure ?? [])
  /** One reader for every set of missing fields that occurred, by the bits of that set. */
  const readers: Reader<T>[] = []
  return (groups, at) => {
    let missing = 0
    for (let i = 0; i < sure.length; i++) if (groups[at + (sure[i] ?? 0)] === undefined) missing |= 1 << i
    const known = readers[missing]
    if (known) return known(groups, at)
    const isPresent = (field: ReadField) => field.sure === undefined || groups[at + field.sure] !== undefined
    const read = literalReaderOf<T>(fields.filter(isPresent), event)
    readers[missing] = read
    return read(groups, at)
  }
}

/** The names come from the constant tables of this program. No text of a journal reaches the source. */
function literalReaderOf<T>(fields: readonly ReadField[], event: string | undefined): Reader<T> {
  for (const name of [event ?? '', ...fields.map((field) => field.name)]) assertPlainName(name)
  const properties = fields.map(({ name, first }, i) => `${name}: readers[${i}](groups, at + ${first})`)
  const literal = [...(event === undefined ? [] : [`event: '${event}'`]), ...properties].join(', ')
  const bind = new Function('readers', `return (groups, at) => ({ ${literal} })`)
  return bind(fields.map(({ fromGroups }) => fromGroups)) as Reader<T>
}

/** Anything but letters and underscores could be source. */
function assertPlainName(name: string): void {
  if (!/^[a-zA-Z_]*$/.test(name))
    throw new SvcError('invariant', `${name} is no name for a field of a record`)
}
