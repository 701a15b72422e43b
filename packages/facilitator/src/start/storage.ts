/** Opens the ledger of this configuration, and the history of its payments. */
import { type JsonRpc, readHead } from '@svc-zerc20/evm'
import type { Address, ChallengeNonce, Clock, Secret } from '@svc-zerc20/protocol'
import type { Config } from '../config/config.js'
import { limits } from '../config/limits.js'
import type { HistorySettings } from '../config/secrets/history.js'
import type { HistoryBooks } from '../history/answers.js'
import { createStoreHistory } from '../history/answers.js'
import { type HistoryFileStats, openHistoryFile } from '../history/history-file.js'
import { oursOf } from '../store/assert-ours.js'
import { type OpenLedger, openLedger } from '../store/open.js'
import { unsafeSettings } from '../store/postgres/prepare-schema.js'
import type { Log } from '../telemetry/events.js'

type StorageDeps = {
  readonly config: Config
  readonly clock: Clock
  readonly log: Log
  readonly seed: Uint8Array
  /** The password of the database at `storage.url`. */
  readonly password?: Secret<string> | undefined
  readonly isCopyAccepted?: boolean | undefined
  /** Attaches the payment history. */
  readonly history?: Pick<HistorySettings, 'path'> | undefined
}

/** The history of payments, for their participants. */
export type History = {
  readonly books: HistoryBooks
  /**
   * The payer lets the provider see its address and its burn. Nothing happens for a payment that is unknown, disclosed, or
   * by then of another payer.
   */
  disclose(nonce: ChallengeNonce, payer: Address): Promise<void>
  stats(): HistoryFileStats
}

export type Storage = OpenLedger & {
  /** Absent when no payment history is attached. */
  readonly history?: History
}

export async function openStorage(deps: StorageDeps): Promise<Storage> {
  const { config, clock, log } = deps
  const { settlement } = config
  const storage = await openLedger({
    journal: settlement.journal,
    database:
      config.storage.url === undefined ? undefined : { url: config.storage.url, password: deps.password },
    binding: oursOf(config, deps.seed),
    clock,
    openMax: config.daemon.max_open_challenges,
    openOfSellers: new Map(config.sellers.map(({ name, max_open_challenges: own }) => [name, own])),
    expiredRetentionSeconds: settlement.expired_challenge_retention_seconds,
    unmatchedMax: { perChallenge: limits.unmatchedPerChallengeMax, total: limits.unmatchedBurnsMax },
    foundPerAddressMax: limits.foundPerAddressMax,
    keepSigned: { blocks: settlement.reorg_watch_blocks },
    isCopyAccepted: deps.isCopyAccepted === true,
    onFailure: (err) => log({ event: 'ledger.failed', err }),
    limits,
  })
  const { lines, tornBytes } = storage.store.report
  if (storage.figures()) log({ event: 'journal.replayed', records: lines })
  if (tornBytes > 0) log({ event: 'journal.torn', bytes: tornBytes })
  try {
    const unsafe = storage.shared ? await storage.store.ask(unsafeSettings()) : []
    for (const message of unsafe) log({ event: 'facilitator.warning', message: `storage.url: ${message}` })
    return deps.history ? await attachHistory(deps, deps.history, storage) : storage
  } catch (error) {
    await storage.close()
    throw error
  }
}

/** The file is written behind the ledger, and closed before it. */
async function attachHistory(
  { config, clock, log }: StorageDeps,
  { path }: Pick<HistorySettings, 'path'>,
  storage: OpenLedger,
): Promise<Storage> {
  const { store } = storage
  const { chain_id: chainId, token } = config.network
  const onFailure = (err: unknown) => log({ event: 'history.failed', err })
  const isForgotten = storage.figures() === undefined
  const file = await openHistoryFile({
    path,
    binding: { chainId, token },
    store,
    isForgotten,
    clock,
    onFailure,
    limits,
  })
  if (file.tornBytes > 0) log({ event: 'history.torn', bytes: file.tornBytes })
  log({ event: 'history.opened', records: file.stats().records, bytes: file.stats().bytes })
  return {
    ...storage,
    history: {
      books: createStoreHistory(store),
      disclose: (nonce, payer) => store.change('disclose', nonce, payer),
      stats: file.stats,
    },
    close: () => file.close().finally(storage.close),
  }
}

/**
 * Goes on with a restored backup, or with a ledger that the operator accepts although it may be older than what happened.
 * Asks the chain how far the doubt reaches: a burn up to its newest block may have been granted behind the copy.
 */
export async function acceptCopy(
  { store }: Pick<OpenLedger, 'store'>,
  rpc: JsonRpc,
  log: Log,
  isSaid: boolean,
): Promise<void> {
  const head = await readHead(rpc)
  const accept = () => store.change('acceptCopy', Number(head), isSaid)
  let outcome = await accept()
  while (outcome === 'begun') outcome = await accept()
  if (outcome === 'accepted') log({ event: 'ledger.copy_accepted', block: Number(head) })
}
