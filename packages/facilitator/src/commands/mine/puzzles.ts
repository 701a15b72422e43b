/** `svc-facilitator puzzles`: prints puzzles for `svc-facilitator mine`, on a machine that has the treasury's key. */
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import type { Writable } from 'node:stream'
import { type Secret, SvcError } from '@svc-zerc20/protocol'
import { deriveSeed } from '@svc-zerc20/zk'
import { createPuzzle, termsOf } from '../../addresses/address-maker.js'
import { epochsOf } from '../../addresses/epochs.js'
import { printPuzzle } from '../../addresses/puzzles.js'
import type { Config } from '../../config/config.js'
import { databaseOf } from '../../store/engine/open-database.js'
import { openSqlite } from '../../store/engine/sqlite.js'
import { connect, type Database } from '../../store/postgres/client.js'
import { sql } from '../../store/sql.js'
import { systemRandom } from '../../system.js'

/** Ends after `count` puzzles, or when nobody reads them any more. */
export async function printPuzzles(deps: {
  readonly config: Config
  readonly treasuryKey: Secret<Uint8Array>
  readonly database: Database | undefined
  readonly count: number
  readonly clock: { now(): number }
  readonly output: Writable
}): Promise<void> {
  const { config, count, clock, output } = deps
  const terms = termsOf(config, deriveSeed(deps.treasuryKey.reveal()))
  const epochAt = config.finalize.mode === 'single' ? undefined : epochsOf(config, await ledgerIdOf(deps))
  let isRead = true
  output.on('error', () => {
    isRead = false
  })
  for (let made = 0; made < count && isRead; made++) {
    const puzzle = createPuzzle({ terms, random: systemRandom, clock, epochAt })
    if (!output.write(`${printPuzzle(puzzle)}\n`)) await once(output, 'drain').catch(() => undefined)
  }
}

/** Addresses of an epoch belong to one ledger. */
async function ledgerIdOf({
  config,
  database,
}: {
  readonly config: Config
  readonly database: Database | undefined
}): Promise<string> {
  const question = sql`SELECT id FROM ledger`
  if (database) {
    const client = connect(database)
    const [row] = await client.read((send) => send(question)).finally(client.close)
    return row?.id
  }
  const file = databaseOf(config.settlement.journal)
  if (!existsSync(file)) {
    throw new SvcError('ledger_unusable', `settlement.journal: ${file} is not there: start a daemon first`)
  }
  const connection = openSqlite(file, { isReader: true })
  try {
    return connection.query(question)[0]?.id
  } finally {
    connection.close()
  }
}
