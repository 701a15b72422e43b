/**
 * accepted → proof → mint → finalized, minutes after the request and never on its path.
 *
 * The chain is the truth: a payment is finalized when the verifier has minted it, deep enough that a reorg
 * cannot take it back, whoever sent the mint. A round can therefore be repeated, or cut off anywhere, and
 * nothing is minted twice.
 */
import type { ChallengeNonce, Clock } from '@svc-zerc20/protocol'
import type { Books } from '../books.js'
import type { BatchPorts } from '../epochs/ports.js'
import { createEpochTallies, type EpochTallies } from '../epochs/tally.js'
import type { Ledger } from '../ledger-port.js'
import type { Minter } from '../ports.js'
import type { AwaitingMint } from '../records.js'
import type { Report } from '../report.js'
import type { Waits } from '../waits.js'
import type { MintSchedule, MintState, MintVerifier, ProvedRoot, ProveMint, RereadBurn } from './ports.js'
import {
  createProgress,
  createTellWaiting,
  type MintStep,
  type Progress,
  type Round,
  type RoundEnd,
} from './progress.js'
import { createRecordMints, type RecordEnd, type RecordMints } from './record.js'
import { createReorgedBurns } from './reorged-burns.js'
import { createSendMints } from './send.js'

export type Finalize = {
  round(signal: AbortSignal): Promise<RoundEnd>
  /** Tries this payment now, because an operator asked for it, whatever its back-off says. */
  retry(nonce: ChallengeNonce): Promise<void>
  /**
   * Records mints that are deep enough by now. May run while a round is proving: the provider's books need
   * not wait for the proofs of others.
   */
  confirm(): Promise<void>
  /** Why payments are not minted yet. A payment that no round has seen is not among them. */
  readonly waits: Pick<Waits, 'of' | 'all'>
}

export type FinalizeDeps = {
  readonly ledger: Pick<
    Ledger,
    'find' | 'awaitingMint' | 'finalize' | 'demote' | 'demoted' | 'accept' | 'moveBurn'
  > & { readonly books: Pick<Books, 'ofEpoch' | 'openEpochs'> }
  readonly verifier: MintVerifier
  readonly reread: RereadBurn
  readonly prove: ProveMint
  /** For payments that are minted in batches. */
  readonly batches: BatchPorts
  readonly minter: Pick<Minter, 'mint' | 'isUnderWay'>
  readonly clock: Clock
  readonly report: Report
  readonly schedule: MintSchedule
  readonly shuffle: <T>(items: readonly T[]) => readonly T[]
  /** Blocks that must hold a burn which came back after a reorg. */
  readonly burnConfirmations: number
  readonly limits: {
    /** Bounds of one round: payments looked at, burns read again, mints, and attempts at once. */
    readonly paymentsPerRoundMax: number
    readonly burnsPerRoundMax: number
    readonly mintsPerRoundMax: number
    readonly attemptsInFlightMax: number
    /** Looks for the transaction of a mint, before the verifier's word alone counts. */
    readonly mintReadsMax: number
    /** How long a round waits for the block of one mint. */
    readonly mintWaitMs: number
    /** How long burns wait for a root before the operator is told, and before the operator is told again. */
    readonly rootPatienceMs: number
  }
}

export function createFinalize(deps: FinalizeDeps): Finalize {
  const { verifier, limits } = deps
  const progress = createProgress(deps)
  const { schedule, waits } = progress
  const reorgedBurns = createReorgedBurns({ ...deps, progress })
  const send = createSendMints({ ...deps, ...limits, proveBatch: deps.batches.prove, progress })
  const record = createRecordMints({ ...deps, ...limits, ...deps.batches, progress })
  const tellWaiting = createTellWaiting({ ...deps, ...limits, waits })
  const epochs = createEpochTallies({ ...deps, ...deps.batches, progress, reorgedBurns, send, record })

  async function advance(
    payment: AwaitingMint,
    root: ProvedRoot,
    round: Round,
  ): Promise<MintStep | undefined> {
    if (deps.minter.isUnderWay(payment.challenge.nonce)) return 'confirming'
    // A reorged burn is noticed while its payment waits. The bound keeps a round from reading thousands of
    // waiting burns.
    if (round.burnsLeft === 0) return undefined
    round.burnsLeft -= 1
    const current = await reorgedBurns.withCurrentBurn(payment)
    if (!current) return 'burn_lost'
    if (root.isPaused) return 'verifier_paused'
    if (current.burn.leafIndex >= root.size) return 'root_behind'
    if (round.mintsLeft === 0) return undefined
    round.mintsLeft -= 1
    return send.one(current, root, round)
  }

  async function step(
    { payment, state }: Seen,
    root: ProvedRoot,
    round: Round,
  ): Promise<MintStep | undefined> {
    if (round.signal.aborted) return 'interrupted'
    try {
      if (state === 'minted') return notOutgrown(await record.one(payment))
      return state === 'shallow' ? 'confirming' : await advance(payment, root, round)
    } catch (err) {
      return round.signal.aborted
        ? 'interrupted'
        : await progress.failed(payment.challenge.nonce, 'unavailable', err)
    }
  }

  async function runRound(signal: AbortSignal): Promise<RoundEnd> {
    await reorgedBurns.acceptReturned(signal)
    await epochs.searchOpen()
    const inEpochs = await listed(deps.ledger.awaitingMint({ inEpochs: true }))
    const due = await progress.due(limits.paymentsPerRoundMax, inEpochs)
    const end = new Map<ChallengeNonce, MintStep>()
    if (due.length + inEpochs.length === 0) return end
    const [root, states] = await Promise.all([verifier.latestRoot(), verifier.mintStates(due)])
    const all = due.map((payment, i): Seen => ({ payment, state: states[i] ?? 'due' }))
    const { queue, companyOf } = orderOf(all, root, deps.shuffle)
    const round: Round = {
      signal,
      companyOf,
      mintsLeft: limits.mintsPerRoundMax,
      burnsLeft: limits.burnsPerRoundMax,
    }
    const note = (payment: AwaitingMint, taken: MintStep | undefined) => {
      if (!taken) return
      end.set(payment.challenge.nonce, taken)
      progress.remember(payment, taken)
    }
    const work = async () => {
      for (let next = queue.shift(); next; next = queue.shift())
        note(next.payment, await step(next, root, round))
    }
    const tally = async () => {
      const steps = await epochs.round(inEpochs, root, round)
      for (const payment of inEpochs) note(payment, steps.get(payment.challenge.nonce))
    }
    await Promise.all([tally(), ...Array.from({ length: limits.attemptsInFlightMax }, work)])
    tellWaiting(root)
    return end
  }

  return {
    round: runRound,

    retry: schedule.mintNow,

    confirm: createConfirm(deps, progress, record, epochs),

    waits,
  }
}

function createConfirm(
  { verifier, limits }: FinalizeDeps,
  { schedule, minted }: Progress,
  record: RecordMints,
  epochs: EpochTallies,
): Finalize['confirm'] {
  return async () => {
    const all = [...minted.values()]
    await epochs.confirm(all.filter(isInEpoch))
    const waiting = all.filter((payment) => !isInEpoch(payment)).slice(0, limits.paymentsPerRoundMax)
    if (waiting.length === 0) return
    const states = await verifier.mintStates(waiting)
    for (const [i, payment] of waiting.entries()) {
      const { nonce } = payment.challenge
      // A reorg may have taken the mint: the next round sends another.
      if (states[i] === 'due') minted.delete(nonce)
      else if (states[i] === 'minted' && !(await schedule.failuresOf(nonce)).isResting)
        await record.one(payment)
    }
  }
}

const isInEpoch = ({ challenge }: AwaitingMint): boolean => challenge.epoch !== undefined

async function listed<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const list: T[] = []
  for await (const item of items) list.push(item)
  return list
}

/** A larger burn took the place of the one that was recorded. Nothing was done for it yet. */
const notOutgrown = (end: RecordEnd): MintStep | undefined => (end === 'outgrown' ? undefined : end)

type Seen = { readonly payment: AwaitingMint; readonly state: MintState }

/**
 * Payments in the order of a round. Minted payments come first: recording them is quick and should not wait
 * for proofs. The rest is shuffled, because mints in the order of their burns would tell which is which.
 */
function orderOf(
  all: readonly Seen[],
  root: ProvedRoot,
  shuffle: FinalizeDeps['shuffle'],
): { readonly queue: Seen[]; readonly companyOf: Round['companyOf'] } {
  const isCovered = ({ payment }: Seen) => !root.isPaused && payment.burn.leafIndex < root.size
  const open = all.filter(({ state }) => state !== 'minted')
  const covered = open.filter(isCovered)
  return {
    queue: [
      ...all.filter(({ state }) => state === 'minted'),
      ...shuffle(covered),
      ...shuffle(open.filter((each) => !isCovered(each))),
    ],
    companyOf: (value) => covered.filter(({ payment }) => payment.burn.value === value).length,
  }
}
