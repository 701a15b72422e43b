/** Opens the ledger as the configuration asks: beside a journal file under its lock, or in memory alone. */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { SvcError } from '@svc-zerc20/protocol'
import { lockJournal } from '../ledger/journal/lock.js'
import type { ShareTerms } from '../payment/issue/shares.js'
import type { Clock } from '../payment/ports.js'
import { systemRandom } from '../system.js'
import type { IssuedStore } from '../transfers/issued-store.js'
import type { KeepSigned } from './apply.js'
import type { AccountName, Binding, KnownAccount } from './events.js'
import { createStoreBooks, type StoreBooks } from './ports/books.js'
import { createIssuedStore } from './ports/issued.js'
import { createAskers, createStoreLedger, type StoreLedger } from './ports/ledger.js'
import { slots } from './rows/transaction-rows.js'
import { readAccount, readBinding } from './steps/operator-steps.js'
import type { StepSettings } from './steps/step-context.js'
import { openStore, type Store } from './store.js'

export type OpenLedger = {
  readonly store: Store
  readonly ledger: StoreLedger & { readonly books: StoreBooks }
  readonly issued: IssuedStore
  /** Writes an event without news, to find out whether the disk takes events; throws when it refuses. */
  tryDisk(): Promise<void>
  /** An account of the ledger, with the highest txNonce that is known of it. */
  knownAccount(name: AccountName): Promise<KnownAccount | undefined>
  bindAccount(name: AccountName, account: KnownAccount): Promise<void>
  close(): Promise<void>
}

export type OpenLedgerDeps = {
  /** A path, or `none`. */
  readonly journal: string
  readonly binding: Pick<Binding, 'chainId' | 'token' | 'helper'> & { readonly seed: string }
  readonly clock: Clock
  readonly openMax: number
  readonly openShares?: ShareTerms & { readonly promised: ReadonlyMap<string, number> }
  readonly expiredRetentionSeconds: number
  readonly unmatchedMax: StepSettings['unmatchedMax']
  readonly keepSigned: KeepSigned
  readonly limits: { readonly journalBytesMax: number; readonly storageWaitMs: number }
  readonly onFailure: (err: unknown) => void
}

/** The thread's built file. From the sources, as unit tests run, there is none, and the engine runs in this thread. */
const worker = new URL('./engine/engine-worker.js', import.meta.url)

export async function openLedger(deps: OpenLedgerDeps): Promise<OpenLedger> {
  const lock = deps.journal === 'none' ? undefined : await lockJournal(deps.journal, deps.onFailure)
  try {
    return await openLocked(deps, lock?.path, async () => lock?.release())
  } catch (error) {
    await lock?.release()
    throw error
  }
}

async function openLocked(
  deps: OpenLedgerDeps,
  path: string | undefined,
  release: () => Promise<void>,
): Promise<OpenLedger> {
  const { clock, onFailure, limits } = deps
  const askerOf = createAskers(systemRandom.bytes(32))
  const settings = settingsOf(deps, askerOf)
  const store = await openStore({
    ...(path !== undefined && { path }),
    settings: { steps: settings, keepSigned: deps.keepSigned },
    limits,
    clock,
    onFailure,
    worker: existsSync(fileURLToPath(worker)) ? worker : undefined,
    waitMs: limits.storageWaitMs,
  })
  try {
    await bindLedger(store, deps.binding)
  } catch (error) {
    await store.close()
    throw error
  }
  const at = () => ({ now: Math.floor(clock.now() / 1000), settings })
  const ledger = createStoreLedger({
    store,
    clock,
    settings,
    askerOf: (key) => (key === undefined ? undefined : askerOf(key)),
  })
  return {
    store,
    ledger: { ...ledger, books: createStoreBooks(store, at) },
    issued: createIssuedStore(store),
    tryDisk: async () => store.change('bind', (await store.ask(readBinding())) as Binding),
    knownAccount: (name) => store.ask(readAccount(name)),
    bindAccount: (name, account) => store.change('bindAccount', name, account),
    close: () => store.close().finally(release),
  }
}

function settingsOf(deps: OpenLedgerDeps, askerOf: (key: string) => string): StepSettings {
  const { openMax, openShares, expiredRetentionSeconds, unmatchedMax } = deps
  const named = (values: ReadonlyMap<string, number>) =>
    new Map([...values].map(([key, value]) => [askerOf(key), value]))
  return {
    openMax,
    expiredRetentionSeconds,
    unmatchedMax,
    ...(openShares && {
      shares: {
        capacity: openShares.capacity,
        reservedPercent: named(openShares.reservedPercent),
        promised: named(openShares.promised),
        promisedToOthers: openShares.promisedTo(''),
      },
    }),
  }
}

/**
 * Binds a new ledger. Throws for one of another chain, token or treasury key, and for one of another helper while burns
 * through that helper are under way: their outcome would be looked for at the wrong place.
 */
async function bindLedger(store: Store, wanted: OpenLedgerDeps['binding']): Promise<void> {
  const known = await store.ask(readBinding())
  if (known.chainId === undefined) return store.change('bind', wanted)
  if (known.chainId !== wanted.chainId || known.token !== wanted.token) {
    throw new SvcError(
      'config_invalid',
      `settlement.journal: it belongs to token ${known.token} on chain ${known.chainId}; give this network a journal of its own`,
    )
  }
  if (known.seed !== wanted.seed) {
    throw new SvcError(
      'seed_mismatch',
      'SVC_TREASURY_PK: is not the key that the addresses of the journal derive from, so nothing that was paid to them ' +
        'could be minted. Put the old key back; a new key needs a journal of its own (settlement.journal)',
    )
  }
  if (known.helper === wanted.helper) return
  const burns = await store.ask(slots('burn'))
  if (burns.length > 0) {
    throw new SvcError(
      'config_invalid',
      `settlement.permit_burner: burns through ${known.helper ?? 'no helper'} are under way; keep it until they ended`,
    )
  }
  const { helper: _, ...rest } = known
  await store.change('bind', { ...rest, ...wanted } as Binding)
}
