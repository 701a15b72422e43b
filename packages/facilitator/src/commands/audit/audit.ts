/** `svc-facilitator audit`: chain against books. Asks a daemon that runs, only reads, and needs no key. */
import type { Config } from '../../config/config.js'
import { limits } from '../../config/limits.js'
import { urlOf } from '../../config/settings.js'
import * as schemas from '../../http/admin/schemas.js'
import { openChainReader } from '../../start/chain-side.js'
import { type AdminClient, createAdminClient } from '../admin/client.js'
import { readChainFacts } from './chain-facts.js'
import { type AuditBooks, type AuditReport, type BookedPayment, compare, type Period } from './compare.js'

export type AuditOptions = {
  readonly config: Config
  /** `SVC_ADMIN_TOKEN` of the daemon. */
  readonly token: string | undefined
  readonly period: Period
  /** Where the daemon listens, when the configuration does not say it. */
  readonly url?: string | undefined
}

/** Payments of this much before a period may share a mint with those in it. */
const besideSeconds = 30 * 86_400

/** Throws `SvcError('admin_unreachable')` when no daemon answers. */
export async function audit({ config, token, period, url }: AuditOptions): Promise<AuditReport> {
  const books = await readBooks(createAdminClient({ url: url ?? urlOf(config.listen), token }), period)
  const { rpc, chain } = await openChainReader(config)
  try {
    return compare(books, await readChainFacts({ config, rpc, chain, books, period }), period)
  } finally {
    rpc.close()
  }
}

async function readBooks(client: AdminClient, period: Period): Promise<AuditBooks> {
  const limit = `${limits.pageSizeMax}`
  const since = `${Math.max(0, period.since - besideSeconds)}`
  const payments: BookedPayment[] = []
  let after: string | undefined
  do {
    const page = await client.get('/payments', schemas.paymentPage, { since, limit, after })
    payments.push(...page.payments)
    after = page.next
  } while (after !== undefined)
  const odd = await client.get('/late', schemas.oddBurns, { limit })
  const { fees, relayer } = await client.get('/status', schemas.status)
  return { payments, odd, fees, relayer: relayer.address }
}
