/** The daemon at a glance: asks every part that an operator looks at, at the moment of the look. */
import { type Address, type Clock, inTime, Network, SvcError, type TokenLabel } from '@svc-zerc20/protocol'
import type { AddressPool } from '../../addresses/pool.js'
import type { ChainProbe } from '../../chain/probe.js'
import { limits } from '../../config/limits.js'
import type { Profile } from '../../config/settings.js'
import type { HistoryFileStats } from '../../history/history-file.js'
import { version } from '../../package.js'
import type { Books } from '../../payment/books.js'
import type { Issuance } from '../../payment/issue/issuance.js'
import type { OwedBooks } from '../../payment/owed.js'
import type { QueuedTransaction } from '../../payment/records.js'
import type { FeeControl } from '../../payment/sweep/control.js'
import type { Fleet } from '../../store/adapters/fleet.js'
import type { EngineFigures } from '../../store/engine/engine.js'
import type { Telemetry } from '../../telemetry/telemetry.js'
import type { ClockWatch } from '../health/clock-watch.js'
import type { DiskSpace } from '../health/readiness.js'
import type { Readiness } from '../public/health.js'
import { viewFees } from './view.js'

type QueueView = { readonly address: Address; queue(): readonly QueuedTransaction[] }

export type StatusDeps = {
  readonly chainId: number
  readonly profile: Profile
  readonly clock: Clock
  readonly startedAtMs: number
  readonly ledgerId: string
  /** Symbol and decimals, as the token tells them. */
  readonly token: TokenLabel | undefined
  readonly ledger: { readonly books: Books }
  readonly issuance: Issuance
  readonly readiness: Readiness
  readonly owed: OwedBooks
  /** Payments that are minted together wait until there are this many, or for this long. */
  readonly batchPace: { readonly least: number; readonly waitMaxMs: number }
  /** The batch proof that the decider is asked for. Absent without a decider. */
  readonly deciderWait:
    | (() => { readonly sinceMs: number; readonly heardMs?: number } | undefined)
    | undefined
  /** Why nothing is minted here. Undefined when mints are made. */
  readonly finalizeOff: string | undefined
  readonly fees: FeeControl
  readonly openChallengesMax: number
  readonly addresses: Pick<AddressPool, 'ready' | 'target'>
  readonly relayer: QueueView
  /** The account that sends mints, when it is not the relayer. */
  readonly minter: QueueView | undefined
  readonly telemetry: Pick<Telemetry, 'spent'>
  readonly probe: Pick<ChainProbe, 'last'>
  readonly clockWatch: Pick<ClockWatch, 'skewSeconds'>
  /** Absent for a ledger that no other daemon can reach. */
  readonly fleet: (() => Promise<Fleet>) | undefined
  readonly journalFigures: () => EngineFigures | undefined
  /** Undefined when no payment history is attached. */
  readonly historyStats: () => HistoryFileStats | undefined
  readonly diskSpace: DiskSpace
}

/** What the process knows is told also while the ledger does not answer; the fields of the ledger are absent then. */
export async function viewStatus(deps: StatusDeps) {
  const [known, ledger] = await Promise.all([
    viewProcess(deps),
    ifLedgerAnswers(deps, async () => ({ ...(await viewLedger(deps)), ...(await deps.fleet?.()) })),
  ])
  const { problems } = known
  const isTold = ledger !== undefined || problems.some(({ part }) => part === 'ledger')
  const all = isTold ? problems : [...problems, { part: 'ledger' as const, problem: 'does not answer' }]
  const { chain, addresses, relayer, minter, queue, history, journal, ...daemon } = known
  const { challenges, daemons, leases, ...figures } = ledger ?? {}
  return {
    ...daemon,
    ready: all.length === 0,
    problems: all,
    ...figures,
    chain,
    challenges,
    addresses,
    relayer,
    minter,
    queue,
    history,
    daemons,
    leases,
    journal,
  }
}

/** Undefined when the ledger fails, or does not answer in time. */
export async function ifLedgerAnswers<T>(
  { clock }: StatusDeps,
  ask: () => Promise<T>,
): Promise<T | undefined> {
  const told = ask().catch((error) => {
    if (error instanceof SvcError && error.code === 'ledger_failed') return undefined
    throw error
  })
  const answer = await inTime(told, limits.scrapeLedgerMs, clock)
  return answer === 'late' ? undefined : answer
}

/** What this process knows by itself, also while its database is away. */
export async function viewProcess(deps: StatusDeps) {
  const { problems } = await deps.readiness()
  const journal = deps.journalFigures()
  return {
    version,
    network: Network.format(deps.chainId),
    token: deps.token,
    profile: deps.profile.name,
    acceptsPayments: deps.profile.acceptsPayments,
    ledgerId: deps.ledgerId,
    startedAt: inSeconds(deps.startedAtMs),
    now: inSeconds(deps.clock.now()),
    ready: problems.length === 0,
    problems,
    chain: viewChain(deps),
    addresses: { ready: deps.addresses.ready(), target: deps.addresses.target },
    ...viewAccounts(deps),
    queue: [...viewQueue('relayer', deps.relayer), ...viewQueue('minter', deps.minter)],
    history: deps.historyStats(),
    journal: journal && { ...journal, freeBytes: await deps.diskSpace() },
  }
}

/** What only the ledger knows. */
export async function viewLedger(deps: StatusDeps) {
  const { books } = deps.ledger
  return {
    issuance: await issuanceOf(deps),
    payments: await books.counts(),
    mints: viewOwed(await deps.owed.total(), deps),
    fees: viewFees(await deps.fees.view()),
    challenges: { open: (await books.figures()).open, max: deps.openChallengesMax },
  }
}

function viewOwed(
  { payments, value, oldestAt, reasons, gathering }: Awaited<ReturnType<OwedBooks['total']>>,
  { finalizeOff, clock, batchPace, deciderWait }: StatusDeps,
) {
  const wait = deciderWait?.()
  const batches = gathering.map((epoch) => ({
    payments: epoch.payments,
    of: batchPace.least,
    latestAt: epoch.oldestAt + Math.ceil(batchPace.waitMaxMs / 1000),
  }))
  return {
    awaiting: payments,
    owed: value,
    oldestAt,
    oldestSeconds: oldestAt === undefined ? undefined : Math.max(0, inSeconds(clock.now()) - oldestAt),
    reasons: Object.fromEntries(reasons),
    nextBatches: batches.length > 0 ? batches : undefined,
    decider: wait && {
      since: inSeconds(wait.sinceMs),
      heardAt: wait.heardMs === undefined ? undefined : inSeconds(wait.heardMs),
    },
    off: finalizeOff,
  }
}

function viewChain({ probe, clockWatch }: StatusDeps) {
  const view = probe.last()
  if (!view?.reachable) return { reachable: false }
  return {
    reachable: true,
    head: view.headNumber,
    roundTripMs: Math.round(view.roundTripMs),
    clockSkewSeconds: clockWatch.skewSeconds(),
  }
}

function viewAccounts({ relayer, minter, probe, telemetry: { spent } }: StatusDeps) {
  const view = probe.last()
  const [relayerWei, minterWei] = view?.reachable ? [view.relayerBalance, view.minterBalance] : []
  const viewAccount = ({ address, queue }: QueueView, balance: bigint | undefined) => ({
    address,
    balance,
    pending: queue().length,
  })
  const { burn, mint } = spent()
  return {
    relayer: { ...viewAccount(relayer, relayerWei), spent: { burn, mint } },
    minter: minter && viewAccount(minter, minterWei),
  }
}

const viewQueue = (account: 'relayer' | 'minter', sender: QueueView | undefined) =>
  (sender?.queue() ?? []).map(({ signedAtMs, ...rest }) => ({
    account,
    ...rest,
    signedAt: inSeconds(signedAtMs),
  }))

const inSeconds = (ms: number) => Math.floor(ms / 1000)

export const issuanceOf = async ({ issuance }: Pick<StatusDeps, 'issuance'>): Promise<'paused' | 'open'> =>
  (await issuance.isPaused()) ? 'paused' : 'open'
