/** `svc-facilitator audit`: chain against books. Reads only, beside a daemon that runs or without one. */
import { SvcError } from '@svc-zerc20/protocol'
import { systemClock } from '@svc-zerc20/protocol/system-clock'
import { deriveSeed } from '@svc-zerc20/zk'
import { z } from 'zod'
import type { Config } from '../../config/config.js'
import { limits } from '../../config/limits.js'
import type { Secrets } from '../../config/secrets/secrets.js'
import { urlOf } from '../../config/settings.js'
import { fees as feesSchema } from '../../http/admin/fee-schemas.js'
import * as schemas from '../../http/admin/schemas.js'
import { viewFees, viewPayment, viewStuck } from '../../http/admin/view.js'
import { toJson } from '../../http/server.js'
import type { Cursor } from '../../payment/books.js'
import { type ChainSide, openChainSide } from '../../start/chain-side.js'
import { createFeesSide } from '../../start/fees.js'
import { createFollowing } from '../../start/following.js'
import { createTelemetry } from '../../telemetry/telemetry.js'
import { type AdminClient, createAdminClient } from '../admin/client.js'
import { openRecoveryStorage } from '../recover/storage.js'
import { readChainFacts } from './chain-facts.js'
import { type AuditBooks, type AuditReport, type BookedPayment, type Period, reckon } from './reckon.js'

export type AuditOptions = {
  readonly config: Config
  readonly secrets: Secrets
  readonly period: Period
  /** Where the daemon listens, when the configuration does not say it. */
  readonly url?: string | undefined
}

/** Payments of this much before a period may share a mint with those in it. */
const besideSeconds = 30 * 86_400

/** Throws `SvcError('journal_locked')` when a daemon has the journal and does not answer. */
export async function audit(options: AuditOptions): Promise<AuditReport> {
  const { config, secrets, period } = options
  const telemetry = createTelemetry({ log: () => undefined, clock: systemClock, linkMints: true })
  const chainSide = await openChainSide({ config, secrets, clock: systemClock, telemetry })
  try {
    const url = options.url ?? urlOf(config.listen)
    const told = await booksOfDaemon(createAdminClient({ url, token: secrets.adminToken?.reveal() }), period)
    const books = told ?? (await booksOfStorage({ ...options, chainSide, telemetry }))
    const isRunning = told !== undefined
    return reckon(books, await readChainFacts({ config, chainSide, books, period, isRunning }), period)
  } finally {
    chainSide.rpc.close()
    telemetry.close()
  }
}

const booksSchema = z.object({
  payments: schemas.paymentPage.shape.payments,
  odd: schemas.oddBurns,
  fees: feesSchema,
})

const sinceOf = ({ since }: Period) => Math.max(0, since - besideSeconds)

/** Undefined when no daemon answers. */
async function booksOfDaemon(client: AdminClient, period: Period): Promise<AuditBooks | undefined> {
  try {
    const payments: BookedPayment[] = []
    let after: string | undefined
    do {
      const query = { since: `${sinceOf(period)}`, limit: `${limits.pageSizeMax}`, after }
      const page = schemas.paymentPage.parse(await client.get('/payments', query))
      payments.push(...page.payments)
      after = page.next
    } while (after !== undefined)
    const odd = schemas.oddBurns.parse(await client.get('/late', { limit: `${limits.pageSizeMax}` }))
    return { payments, odd, fees: feesSchema.parse(await client.get('/fees')) }
  } catch (error) {
    if (error instanceof SvcError && error.code === 'admin_unreachable') return undefined
    throw error
  }
}

/** The books of a daemon that does not run, from a copy of its journal. */
async function booksOfStorage(
  given: AuditOptions & {
    readonly chainSide: ChainSide
    readonly telemetry: ReturnType<typeof createTelemetry>
  },
): Promise<AuditBooks> {
  const clock = systemClock
  const { config, secrets, period, telemetry } = given
  const seed = deriveSeed(secrets.treasuryKey.reveal())
  const copy = { config, dryRun: true, clock, log: telemetry.log, acceptJournal: true }
  const { storage, close } = await openRecoveryStorage(copy, seed)
  try {
    const { ledger } = storage
    const deps = {
      ...given,
      storage,
      ledger,
      clock,
      profile: { name: 'local', acceptsPayments: true } as const,
    }
    const payments: ReturnType<typeof viewPayment>[] = []
    let after: Cursor | undefined
    do {
      const page = await ledger.books.page({ since: sinceOf(period), limit: limits.pageSizeMax, after })
      payments.push(...page.payments.map((each) => viewPayment(each, clock.now(), () => ({ reason: 'off' }))))
      after = page.next
    } while (after !== undefined)
    const stuck = await createFollowing(deps).stuck(limits.pageSizeMax)
    const unmatched = await ledger.books.unmatched(limits.pageSizeMax)
    const odd = { late: [], unmatched, stuck: stuck.map(viewStuck) }
    // In the words of a daemon that runs, so that both are compared alike.
    return booksSchema.parse(
      JSON.parse(toJson({ payments, odd, fees: viewFees(await createFeesSide(deps).view()) })),
    )
  } finally {
    await close()
  }
}
