/** The ledger of this configuration, opened, with a word about what its journal held. */
import { SvcError } from '@svc-zerc20/protocol'
import { createIssuedAddresses, type IssuedAddresses } from '../addresses/issued/addresses.js'
import type { OpenedJournal } from '../addresses/issued/binding.js'
import { issuedFolderOf, openIssuedFolder } from '../addresses/issued/folder.js'
import { createIssuedMemory } from '../addresses/issued/memory.js'
import { addressFileOf, assertAddressesOf } from '../addresses/mined-file.js'
import { createSeedCheck, type SeedCheck } from '../addresses/seed-check.js'
import type { Config } from '../config/config.js'
import { issuedRetentionSeconds } from '../config/found-transfers.js'
import type { HistorySettings } from '../config/history-settings.js'
import { issuancePerMinOf, reservedPercentOf } from '../config/sellers.js'
import { type History, openHistory } from '../history/open.js'
import { giveBackMemory } from '../ledger/give-back-memory.js'
import { keepJournalShort } from '../ledger/journal/keep-short.js'
import { type OpenLedger, openLedger } from '../ledger/open.js'
import { limits } from '../limits.js'
import { createShares } from '../payment/issue/shares.js'
import type { Clock } from '../payment/ports.js'
import type { Challenge } from '../payment/records.js'
import type { Log } from '../telemetry/events.js'

type StorageDeps = {
  readonly config: Config
  readonly clock: Clock
  readonly log: Log
  readonly seed: Uint8Array
  readonly acceptJournal?: boolean | undefined
  /** Replaces the configured journal. */
  readonly journal?: string
  readonly expiredRetentionSeconds?: number
  /** Attaches the payment history. */
  readonly history?: Pick<HistorySettings, 'path'> | undefined
}

export type Storage = OpenLedger & {
  readonly issued: IssuedAddresses
  /** Absent when no payment history is attached. */
  readonly history?: History
}

/** The history is opened first and closed last: the ledger tells it everything. */
export async function openStorage(deps: StorageDeps): Promise<Storage> {
  const { config, clock, log } = deps
  if (!deps.history) return openLedgerOf(deps, undefined)
  const { path } = deps.history
  const { chain_id: chainId, token } = config.network
  const fileBytesMax = config.history.file_bytes_max
  const history = await openHistory({ path, fileBytesMax, binding: { chainId, token }, clock, log, limits })
  try {
    const storage = await openLedgerOf(deps, history)
    return { ...storage, history, close: () => storage.close().finally(history.close) }
  } catch (error) {
    await history.close()
    throw error
  }
}

async function openLedgerOf(deps: StorageDeps, history: History | undefined): Promise<Storage> {
  const { log } = deps
  const { network, settlement, daemon } = deps.config
  const journal = deps.journal ?? settlement.journal
  const seed = createSeedCheck(deps.seed, network.chain_id)
  const { issued, ...storage } = await openLedger({
    journal,
    binding: {
      chainId: network.chain_id,
      token: network.token,
      ...(settlement.permit_burner !== undefined && { helper: settlement.permit_burner }),
    },
    clock: deps.clock,
    openMax: daemon.max_open_challenges,
    openShares: createShares({
      capacity: daemon.max_open_challenges,
      reservedPercent: reservedPercentOf(deps.config),
      promisedTo: issuancePerMinOf(deps.config),
    }),
    expiredRetentionSeconds: deps.expiredRetentionSeconds ?? settlement.expired_challenge_retention_seconds,
    unmatchedMax: { perChallenge: limits.unmatchedPerChallengeMax, total: limits.unmatchedBurnsMax },
    keepSigned: { blocks: settlement.reorg_watch_blocks, paymentsMax: limits.signedBurnsKeptMax },
    onJournalFailure: (err) => log({ event: 'journal.failed', err }),
    seed,
    acceptJournal: deps.acceptJournal,
    ...(history && { history: history.port }),
    onHistoryCaughtUp: (payments) => log({ event: 'history.caught_up', payments }),
    openIssued: (recorded, opened) => openIssued({ ...deps, journal, opened, check: seed }, recorded),
  })
  if (!issued) throw new SvcError('invariant', 'the issued addresses were not opened')
  if (journal !== 'none') {
    await assertAddressesOf(addressFileOf(journal), seed.fingerprint).catch((error) =>
      storage.close().then(() => Promise.reject(error)),
    )
  }
  const { records = 0, tornBytes = 0 } = storage.replay ?? {}
  if (storage.replay) log({ event: 'journal.replayed', records })
  // Reading a long journal leaves much garbage, and a daemon with little traffic would keep it for hours.
  if (records >= limits.replayedRecordsMany) giveBackMemory()
  if (tornBytes > 0) log({ event: 'journal.torn', bytes: tornBytes })
  const closing = new AbortController()
  void keepJournalShort({ storage, clock: deps.clock, log, signal: closing.signal })
  return {
    ...storage,
    issued,
    close() {
      closing.abort()
      return storage.close()
    },
  }
}

async function openIssued(
  {
    config,
    clock,
    log,
    journal,
    opened,
    check,
  }: StorageDeps & {
    readonly journal: string
    readonly opened: OpenedJournal | undefined
    readonly check: SeedCheck
  },
  recorded: Iterable<Challenge>,
): Promise<IssuedAddresses> {
  const found = { perAddressMax: limits.foundPerAddressMax }
  const { network } = config
  const store =
    opened === undefined
      ? createIssuedMemory({ ...found, addressesMax: limits.addressesInMemoryMax })
      : await openIssuedFolder({
          folder: issuedFolderOf(journal),
          binding: { chainId: network.chain_id, token: network.token, seed: check },
          journal: opened,
          limits: found,
        }).catch((error: unknown) => {
          throw error instanceof SvcError && error.code === 'issued_unusable'
            ? new SvcError('config_invalid', `settlement.journal: ${error.message}`, { cause: error })
            : error
        })
  return createIssuedAddresses({
    store,
    recorded,
    issuedSince: clock.now() / 1000 - issuedRetentionSeconds(config),
    clock,
    onFailure: (err) => log({ event: 'journal.failed', err }),
    limits,
  })
}
