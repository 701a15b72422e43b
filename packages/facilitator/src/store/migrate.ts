/**
 * Versions of the tables. A new database gets those of version 1 and every migration behind it, an older one the migrations
 * that it lacks, so there is one way to each version.
 */
import { SvcError } from '@svc-zerc20/protocol'
import { systemRandom } from '../system.js'
import type { Dialect } from './schema.js'
import { first, type Step, sql } from './sql.js'
import { unitsColumn } from './units.js'

export type Migration = {
  /** The change in a few words, for operators. */
  readonly what: string
  /** In the words of `schema.ts`, each statement ended by a semicolon and a new line. */
  readonly statements: string
  /** Daemons of the version before can go on writing: they neither miss nor break what is new. */
  readonly isAdditive: boolean
}

/** Oldest first; the first one leads to version 2. Never edited once released. */
export const migrations: readonly Migration[] = []

export const versionBehind = (known: readonly Migration[]): number => 1 + known.length

/** Migrations that a database of this version lacks. Throws `SvcError('ledger_newer')` for one that is newer than what is known. */
export function lackedBy(version: number, known: readonly Migration[]): readonly Migration[] {
  if (version > versionBehind(known)) throw newer(version, known)
  return known.slice(version - 1)
}

const newer = (version: number, known: readonly Migration[]) =>
  new SvcError(
    'ledger_newer',
    `the ledger has the schema ${version}, and this svc-facilitator knows ${versionBehind(known)}: run the newer one that made it`,
  )

/** Throws once a migration has changed what a daemon that runs depends on. */
export function assertMayWrite(writersFrom: number, known: readonly Migration[]): void {
  if (writersFrom > versionBehind(known)) throw newer(writersFrom, known)
}

/** An id that no other ledger has. */
export const newId = (): string => Buffer.from(systemRandom.bytes(16)).toString('hex')

/** Makes the tables and an empty ledger of version 1. */
export function* create({ tables, inTypes }: Dialect, id: string): Step<void> {
  for (const text of inTypes(tables)) yield { text, values: [] }
  yield sql`
    INSERT INTO ledger (one, id, schema_version, writers_from, applied, applied_crc, forgotten, fees, state, record)
    VALUES (1, ${id}, 1, 1, 0, '', 0, ${unitsColumn(0n)}, 'live', '{}')`
}

/** Changes the tables of an older version, and gives what was done. Throws for a newer one. */
export function* migrate({ inTypes }: Dialect, known = migrations): Step<readonly Migration[]> {
  const { schema_version: before } = (yield* first(sql`SELECT schema_version FROM ledger`)) ?? {}
  const lacked = lackedBy(before, known)
  let version: number = before
  for (const { statements, isAdditive } of lacked) {
    version += 1
    for (const text of inTypes(statements)) yield { text, values: [] }
    yield sql`UPDATE ledger SET schema_version = ${version}`
    if (!isAdditive) yield sql`UPDATE ledger SET writers_from = ${version}`
  }
  return lacked
}
