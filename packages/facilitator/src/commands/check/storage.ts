/** Checks that the database of the ledger can be reached and written. Changes nothing. */
import { type Secret, SvcError } from '@svc-zerc20/protocol'
import type { PartialConfig } from '../../config/config.js'
import { type Finding, fail, ok, outage } from '../../config/finding.js'
import { peekPostgres } from '../../store/postgres/peek.js'

const key = 'storage.url'

export async function probeStorage(
  { storage, settlement }: PartialConfig,
  password: Secret<string> | undefined,
  /** A start finds out by itself. */
  isAlone: boolean,
): Promise<Finding[]> {
  const { url } = storage
  if (url === undefined) return []
  if (settlement.journal !== undefined && settlement.journal !== 'none') {
    return [fail('settlement.journal', 'must be "none": with storage.url the database is the journal')]
  }
  if (!isAlone) return []
  try {
    const { events, daemons, migrations = [] } = await peekPostgres({ url, password })
    const held = daemons.length === 0 ? '' : `; in use by ${daemons.join(', ')}`
    const old = migrations.map(({ what }) => `; a start changes its tables: ${what}`).join('')
    return [
      ok(
        key,
        events === undefined ? 'the database is empty' : `the database has ${events} records${held}${old}`,
      ),
    ]
  } catch (error) {
    if (error instanceof SvcError) return [fail(key, error.message.replace(/^storage\.url: /, ''))]
    return [outage(key, `the database cannot be used: ${(error as Error).message}`)]
  }
}
