/** Opens the ledger: on PostgreSQL, beside a journal file under its lock, or in memory alone. */
import { closeAll } from '@svc-zerc20/daemon'
import { type Clock, SvcError } from '@svc-zerc20/protocol'
import type { SharedAddresses } from '../addresses/shared-stock.js'
import type { AddressStore } from '../addresses/stock.js'
import type { IssuedStore } from '../chain/transfers/issued-store.js'
import type { Books } from '../payment/books.js'
import { createFleet, type Fleet } from './adapters/fleet.js'
import { createIssuedStore } from './adapters/issued.js'
import { createStoreLedger, type StoreLedger } from './adapters/ledger.js'
import { createStoreBooks } from './adapters/operator-questions.js'
import type { KeepSigned } from './apply.js'
import { assertOurs, type Ours, readBound } from './assert-ours.js'
import type { EngineFigures } from './engine/engine.js'
import type { AccountName, KnownAccount } from './events.js'
import { type JournalLock, lockJournal, unusable } from './journal/lock.js'
import { keepMark, type Mark } from './journal/mark.js'
import type { Lease } from './lease.js'
import { connectAside, type Database } from './postgres/client.js'
import { openPostgres } from './postgres/open-postgres.js'
import { createSharedReady } from './postgres/ready.js'
import { type RememberedAccount, readAccount, readyAddresses } from './steps/operator-steps.js'
import type { StepSettings } from './steps/step-context.js'
import { openHere, openInThread, type Store, under } from './store.js'

export type OpenLedger = {
  /** Tells this ledger from every other one, also of the same treasury. */
  readonly id: string
  readonly store: Store
  readonly ledger: StoreLedger & { readonly books: Books }
  readonly issued: IssuedStore
  readonly ready: AddressStore
  /** The ledger for work under leases. */
  under(leases: readonly Lease[]): Pick<OpenLedger, 'store' | 'ledger' | 'issued' | 'bindAccount'>
  /** Absent for a ledger that no other daemon can reach. */
  readonly shared?: { readonly ready: SharedAddresses }
  /** The daemons that share it. Absent for a ledger that no other daemon can reach. */
  readonly fleet?: (() => Promise<Fleet>) | undefined
  /** Figures of the journal. Undefined without one. */
  figures(): EngineFigures | undefined
  /** It may be older than what happened: the step `acceptCopy` comes before anything else. */
  readonly isCopy: boolean
  /** Writes an event without news, to find out whether the disk takes events; throws when it refuses. */
  tryDisk(): Promise<void>
  /** An account of the ledger, with the highest txNonce that is known of it. */
  knownAccount(name: AccountName): Promise<RememberedAccount | undefined>
  bindAccount(name: AccountName, account: KnownAccount): Promise<void>
  close(): Promise<void>
}

export type OpenLedgerDeps = StepSettings & {
  /** A path, or `none`. */
  readonly journal: string
  /** A PostgreSQL server instead of a journal. */
  readonly database?: Database | undefined
  readonly binding: Ours
  readonly clock: Clock
  readonly keepSigned: KeepSigned
  /** The operator goes on with files that may be an older copy. */
  readonly isCopyAccepted?: boolean
  readonly limits: { readonly journalBytesMax: number; readonly storageWaitMs: number }
  readonly onFailure: (err: unknown) => void
}

export async function openLedger(deps: OpenLedgerDeps): Promise<OpenLedger> {
  const lock = deps.journal === 'none' ? undefined : await lockJournal(deps.journal, deps.onFailure)
  try {
    return await openLocked(deps, lock)
  } catch (error) {
    await lock?.release()
    throw refusalOf(error, deps.database)
  }
}

/** Why a ledger could not be opened. What a database says for itself may end by itself. */
export function refusalOf(error: unknown, database: Database | undefined): SvcError {
  if (!database || error instanceof SvcError) return unusable(error)
  const { message } = error as Error
  return new SvcError('ledger_failed', `storage.url: the database cannot be used: ${message}`, {
    cause: error,
  })
}

async function openLocked(deps: OpenLedgerDeps, lock: JournalLock | undefined): Promise<OpenLedger> {
  const path = lock?.path
  const { clock, limits } = deps
  let lost: SvcError | undefined
  const onFailure = (err: unknown) => {
    if (err instanceof SvcError && err.code === 'journal_lost') lost = err
    deps.onFailure(err)
  }
  const { openMax, openOfSellers, expiredRetentionSeconds, unmatchedMax, foundPerAddressMax } = deps
  const settings = { openMax, openOfSellers, expiredRetentionSeconds, unmatchedMax, foundPerAddressMax }
  const options = {
    ...(deps.isCopyAccepted === true && { isCopyAccepted: true }),
    settings: { steps: settings, keepSigned: deps.keepSigned },
    limits,
    clock,
    onFailure,
    waitMs: limits.storageWaitMs,
  }
  const opened = deps.database
    ? await openPostgres({ ...options, database: deps.database })
    : path === undefined
      ? openHere(options)
      : await openInThread({ ...options, path })
  const store = lock ? heldBy(lock, opened) : opened
  try {
    await bindLedger(store, deps.binding, deps.database ? 'storage.url' : 'settlement.journal')
  } catch (error) {
    await store.close()
    throw error
  }
  const at = () => ({ now: Math.floor(clock.now() / 1000), settings })
  const ledger = createStoreLedger({ store, clock, settings })
  const portsOn = (on: Store) => ({
    store: on,
    ledger: { ...ledger.on(on), books: createStoreBooks(on, at) },
    issued: createIssuedStore(on),
    bindAccount: (name: AccountName, account: KnownAccount) => on.change('bindAccount', name, account),
  })
  const mark = path === undefined ? undefined : keepMark(path, () => positionOf(store))
  const aside = deps.database && connectAside(deps.database)
  return {
    id: store.id,
    ...portsOn(store),
    under: (leases) => portsOn(under(store, leases)),
    ready: {
      load: () => store.ask(readyAddresses()),
      add: (address) => store.change('addReady', address),
      drop: (nonces) => store.change('dropReady', nonces),
    },
    ...(aside && { shared: { ready: createSharedReady(aside.send) } }),
    fleet: createFleet(store),
    isCopy: store.isCopy,
    figures: () => (path === undefined && !deps.database ? undefined : store.figures()),
    tryDisk: () => store.change('bindAgain'),
    knownAccount: (name) => store.ask(readAccount(name)),
    async close() {
      await closeAll([() => mark?.close(), () => aside?.close(), store.close, () => lock?.release()])
      if (lost) throw lost
    },
  }
}

/** Nothing more is written once another daemon has taken the lock. */
const heldBy = (lock: JournalLock, store: Store): Store => ({
  ...store,
  // Nobody else reaches it, so nothing is done under a lease with a term.
  async change(name, ...args) {
    try {
      lock.assertHeld()
    } catch (cause) {
      throw new SvcError('ledger_failed', 'the ledger cannot be written', { cause })
    }
    return store.change(name, ...args)
  },
})

const positionOf = (store: Store): Mark => ({ id: store.id, applied: store.figures().records })

/** Binds a new ledger. Throws as `assertOurs` does, and for another helper while a daemon lives that offers its own. */
async function bindLedger(store: Store, ours: Ours, setting: string): Promise<void> {
  const bound = await store.ask(readBound())
  const { helper, ...binding } = bound.binding
  if (binding.chainId === undefined) return store.change('bind', ours)
  assertOurs(bound, ours, setting)
  if (helper === ours.helper) return
  const fleet = await createFleet(store)?.()
  const others = fleet?.daemons.filter(({ alive, here }) => alive && !here) ?? []
  if (others.length > 0) {
    const names = others.map(({ name }) => name).join(', ')
    throw new SvcError(
      'config_invalid',
      `settlement.permit_burner: ${names} burns through ${helper ?? 'no helper'}; stop every daemon of this ledger first`,
    )
  }
  await store.change('bind', { ...binding, ...ours })
}
