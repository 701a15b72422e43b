/**
 * accepted → proof → mint → finalized, minutes after the request and never on its path.
 *
 * The chain is the truth: a payment is finalized when the verifier has minted it, deep enough that a reorg cannot
 * take it back, whoever sent the mint. So a round can be repeated, or cut off anywhere, and nothing is minted twice.
 */
import type { ChallengeNonce } from '@svc-zerc20/protocol'
import type { Ledger } from '../ledger-port.js'
import type { Clock, Minter, MintOutcome } from '../ports.js'
import type { AwaitingMint, Mint } from '../records.js'
import { createWaits, type Wait, type WaitReason } from '../waits.js'
import type { FinalizeEvent, MintState, MintVerifier, ProvedRoot, ProveMint, RereadBurn } from './ports.js'
import { createRetries } from './retries.js'

/** What a round did for a payment, or what the payment waits for. */
export type Step =
  | 'finalized'
  /** The mint is in a block. */
  | 'mined'
  /** Minted, or being minted, and not deep enough yet. */
  | 'confirming'
  /** No proved root covers the burn yet. */
  | 'root_behind'
  | 'verifier_paused'
  /** No block holds the burn any more. */
  | 'burn_lost'
  | 'failed'
  /** The round was cut off. */
  | 'interrupted'

/** The payments whose turn it was. */
export type RoundEnd = ReadonlyMap<ChallengeNonce, Step>

export type Finalize = {
  round(signal: AbortSignal): Promise<RoundEnd>
  /** An operator wants this payment tried now, whatever its back-off says. */
  retry(nonce: ChallengeNonce): void
  /**
   * Records what is minted and deep enough by now. May run while a round is proving: the provider's books need not
   * wait for the proofs of others.
   */
  confirm(): Promise<void>
  /** Why a payment is not minted yet; undefined when no round has seen it. */
  waitOf(nonce: ChallengeNonce): Wait | undefined
}

export type FinalizeDeps = {
  readonly ledger: Pick<Ledger, 'awaitingMint' | 'finalize' | 'demote' | 'demoted' | 'accept' | 'moveBurn'>
  readonly verifier: MintVerifier
  readonly reread: RereadBurn
  readonly prove: ProveMint
  readonly minter: Pick<Minter, 'mint' | 'isUnderWay'>
  readonly clock: Clock
  readonly report: (event: FinalizeEvent) => void
  /** Milliseconds a mint is held back from when its burn is first seen here: a delay that tells no one which burn. */
  readonly delayMs: () => number
  readonly shuffle: <T>(items: readonly T[]) => readonly T[]
  readonly retryMs: { readonly first: number; readonly max: number }
  /** Blocks that must hold a burn which came back after a reorg. */
  readonly burnConfirmations: number
  readonly limits: {
    /** Payments looked at in one round, those whose burn is read again, those that are minted, and how many at once. */
    readonly paymentsPerRoundMax: number
    readonly burnsPerRoundMax: number
    readonly mintsPerRoundMax: number
    readonly attemptsInFlightMax: number
    /** Looks for the transaction of a mint, before the verifier's word alone counts. */
    readonly mintLooksMax: number
    /** How long a round waits for the block of one mint. */
    readonly mintWaitMs: number
    /** Burns that wait longer for a root than this are told of, and again after as long. */
    readonly rootPatienceMs: number
  }
}

export function createFinalize(deps: FinalizeDeps): Finalize {
  const { ledger, verifier, clock, report, limits } = deps
  const retries = createRetries<ChallengeNonce>({ clock, ...deps.retryMs })
  const dueAt = new Map<ChallengeNonce, number>()
  const waits = createWaits({ clock })
  /** Minted as far as we know, and not recorded yet. */
  const minted = new Map<ChallengeNonce, AwaitingMint>()
  /** Being recorded: a round and `confirm` may come upon the same one. */
  const recording = new Set<ChallengeNonce>()
  let toldPause = false
  let toldRootAtMs: number | undefined

  function forget(nonce: ChallengeNonce): void {
    dueAt.delete(nonce)
    retries.forget(nonce)
    waits.forget(nonce)
    minted.delete(nonce)
  }

  /** Payments whose turn it is, about oldest burn first. */
  async function candidates(): Promise<AwaitingMint[]> {
    const due: AwaitingMint[] = []
    for await (const payment of ledger.awaitingMint()) {
      const { nonce } = payment.challenge
      const at = dueAt.get(nonce) ?? clock.now() + deps.delayMs()
      dueAt.set(nonce, at)
      const isHeldBack = clock.now() < at
      if (isHeldBack) waits.set(nonce, 'delayed')
      else if ((waits.of(nonce)?.reason ?? 'delayed') === 'delayed') waits.set(nonce, 'queued')
      const isDue = !isHeldBack && retries.isDue(nonce)
      if (isDue && due.length < limits.paymentsPerRoundMax) due.push(payment)
    }
    return due
  }

  /** Burns that a reorg took away and a later block brought back. One that stays away must not hold up the rest. */
  async function acceptReturned(signal: AbortSignal): Promise<void> {
    for await (const { challenge, burn } of ledger.demoted()) {
      const { nonce } = challenge
      if (signal.aborted) return
      if (!retries.isDue(nonce)) continue
      const returned = await deps.reread(challenge, burn).catch(() => undefined)
      if (!returned || returned.depth < deps.burnConfirmations) {
        retries.failed(nonce)
        continue
      }
      retries.forget(nonce)
      if ((await ledger.accept(nonce, returned.burn)) !== 'accepted') continue
      report({ event: 'payment.returned', challengeNonce: nonce, txHash: returned.burn.txHash })
    }
  }

  /** The payment with the burn as the chain holds it now: a reorg may have moved it, or taken it away. */
  async function withCurrentBurn(payment: AwaitingMint): Promise<AwaitingMint | undefined> {
    const { challenge, burn, acceptedAt } = payment
    const current = (await deps.reread(challenge, burn))?.burn
    if (current) {
      if (current.leafIndex === burn.leafIndex && current.blockHash === burn.blockHash) return payment
      await ledger.moveBurn(challenge.nonce, current)
      return { ...payment, burn: current }
    }
    if (acceptedAt === undefined) {
      // It bought nothing that could be taken back: it only waits, longer each time.
      failed(challenge.nonce, 'burn_lost', undefined)
      return undefined
    }
    await ledger.demote(challenge.nonce)
    forget(challenge.nonce)
    report({ event: 'payment.demoted', challengeNonce: challenge.nonce, txHash: burn.txHash })
    return undefined
  }

  function failed(nonce: ChallengeNonce, reason: WaitReason, err: unknown): Step {
    retries.failed(nonce)
    waits.set(nonce, reason)
    report({ event: 'mint.failed', challengeNonce: nonce, reason, err })
    return 'failed'
  }

  async function mint(payment: AwaitingMint, root: ProvedRoot, round: Round): Promise<Step> {
    const challengeNonce = payment.challenge.nonce
    const company = round.companyOf(payment.burn.value)
    report({ event: 'mint.proving', challengeNonce, leaves: root.size, company })
    const startedAt = clock.now()
    const call = await deps.prove(payment, root, round.signal)
    report({ event: 'mint.proved', challengeNonce, ms: clock.now() - startedAt })
    // A queue that stands still must not hold up the rounds: burns that a reorg took would go unnoticed meanwhile.
    // Until the mint ends, the minter says that it is under way, and nobody sends another.
    const minted = deps.minter.mint(call)
    const bound = new AbortController()
    const elapsed = clock.sleep(limits.mintWaitMs, bound.signal).then(() => 'elapsed' as const)
    const outcome = await Promise.race([minted, round.cutOff, elapsed]).finally(() => bound.abort())
    // What is sent is on record: the next run takes it up.
    if (outcome === 'cut_off') return 'interrupted'
    if (outcome !== 'elapsed') return endMint(payment, outcome)
    minted
      .then((late) => endMint(payment, late))
      .catch((err) => {
        if (!round.signal.aborted) failed(challengeNonce, 'unavailable', err)
      })
    return 'confirming'
  }

  async function endMint(payment: AwaitingMint, outcome: MintOutcome): Promise<Step> {
    const challengeNonce = payment.challenge.nonce
    if (outcome.kind === 'failed') {
      const [state] = outcome.why === 'would_revert' ? await verifier.mintStates([payment]) : []
      // Somebody else sent it while we proved.
      if (state === 'shallow' || state === 'minted') return 'confirming'
      return failed(challengeNonce, outcome.why, outcome.err)
    }
    retries.forget(challengeNonce)
    report({ event: 'mint.mined', challengeNonce })
    return 'mined'
  }

  async function advance(payment: AwaitingMint, root: ProvedRoot, round: Round): Promise<Step | undefined> {
    if (deps.minter.isUnderWay(payment.challenge.nonce)) return 'confirming'
    // A burn that a reorg took is noticed while it waits, too; but thousands that wait are not read in every round.
    if (round.burnsLeft === 0) return undefined
    round.burnsLeft -= 1
    const current = await withCurrentBurn(payment)
    if (!current) return 'burn_lost'
    if (root.isPaused) return 'verifier_paused'
    if (current.burn.leafIndex >= root.size) return 'root_behind'
    if (round.mintsLeft === 0) return undefined
    round.mintsLeft -= 1
    return mint(current, root, round)
  }

  async function record(payment: AwaitingMint): Promise<Step | undefined> {
    const { nonce } = payment.challenge
    if (recording.has(nonce)) return 'confirming'
    recording.add(nonce)
    try {
      return await recordMint(payment)
    } finally {
      recording.delete(nonce)
    }
  }

  async function recordMint(payment: AwaitingMint): Promise<Step | undefined> {
    const { nonce } = payment.challenge
    const isLastLook = retries.failures(nonce) >= limits.mintLooksMax - 1
    let found: Mint | undefined
    try {
      found = await verifier.findMint(payment)
    } catch (err) {
      if (!isLastLook) throw err
    }
    // A node may have dropped its logs; that it is minted, the contract says itself.
    if (!found && !isLastLook) return failed(nonce, 'mint_not_found', undefined)
    const { value } = payment.burn
    const recorded = await ledger.finalize(nonce, found ?? { value }, value)
    forget(nonce)
    // Somebody found a larger burn at its address meanwhile: that one has its turn in another round.
    if (recorded === 'outgrown') return undefined
    if (recorded === 'finalized') report({ event: 'payment.finalized', challengeNonce: nonce })
    return 'finalized'
  }

  async function step(
    payment: AwaitingMint,
    state: MintState,
    root: ProvedRoot,
    round: Round,
  ): Promise<Step | undefined> {
    if (round.signal.aborted) return 'interrupted'
    try {
      if (state === 'minted') return await record(payment)
      return state === 'shallow' ? 'confirming' : await advance(payment, root, round)
    } catch (err) {
      return round.signal.aborted ? 'interrupted' : failed(payment.challenge.nonce, 'unavailable', err)
    }
  }

  async function runRound(signal: AbortSignal, cutOff: Promise<'cut_off'>): Promise<RoundEnd> {
    await acceptReturned(signal)
    const due = await candidates()
    const end = new Map<ChallengeNonce, Step>()
    if (due.length === 0) return end
    const [root, states] = await Promise.all([verifier.latestRoot(), verifier.mintStates(due)])
    const all = due.map((payment, i) => ({ payment, state: states[i] ?? 'due' }))
    const isCovered = ({ payment }: (typeof all)[number]) =>
      !root.isPaused && payment.burn.leafIndex < root.size
    const open = all.filter(({ state }) => state !== 'minted')
    const covered = open.filter(isCovered)
    const round: Round = {
      signal,
      cutOff,
      companyOf: (value) => covered.filter(({ payment }) => payment.burn.value === value).length,
      mintsLeft: limits.mintsPerRoundMax,
      burnsLeft: limits.burnsPerRoundMax,
    }
    // What is minted already is quickly recorded, and should not wait for proofs. The rest in no order: mints that
    // follow their burns in turn would tell which is which.
    const queue = [
      ...all.filter(({ state }) => state === 'minted'),
      ...deps.shuffle(covered),
      ...deps.shuffle(open.filter((each) => !isCovered(each))),
    ]
    const work = async () => {
      for (let next = queue.shift(); next; next = queue.shift()) {
        const done = await step(next.payment, next.state, root, round)
        if (!done) continue
        end.set(next.payment.challenge.nonce, done)
        remember(next.payment, done)
      }
    }
    await Promise.all(Array.from({ length: limits.attemptsInFlightMax }, work))
    tellPause(root, end)
    tellRootBehind()
    return end
  }

  /** What the payment waits for after this step. */
  function remember(payment: AwaitingMint, step: Step): void {
    const { nonce } = payment.challenge
    if (step === 'root_behind' || step === 'verifier_paused') waits.set(nonce, step)
    if (step !== 'mined' && step !== 'confirming') return
    // Meanwhile `confirm` may have recorded it.
    if (recording.has(nonce) || !waits.of(nonce)) return
    waits.set(nonce, 'confirming')
    minted.set(nonce, payment)
  }

  /** Roots take their time, so a short wait is no news; a long one is told again and again, for all of them at once. */
  function tellRootBehind(): void {
    const { count: payments, sinceMs } = waits.summary('root_behind')
    const now = clock.now()
    const isLong = payments > 0 && now - sinceMs >= limits.rootPatienceMs
    if (!isLong) toldRootAtMs = undefined
    else if (toldRootAtMs === undefined || now - toldRootAtMs >= limits.rootPatienceMs) {
      toldRootAtMs = now
      const seconds = Math.floor((now - sinceMs) / 1000)
      report({
        event: 'finalize.waiting',
        reason: 'no proved root covers the burns; does the indexer prove roots?',
        payments,
        seconds,
      })
    }
  }

  /** Once for each pause, not once for each look. */
  function tellPause({ isPaused }: ProvedRoot, end: RoundEnd): void {
    const payments = count(end, 'verifier_paused')
    if (payments > 0 && !toldPause) {
      report({ event: 'finalize.waiting', reason: 'the verifier is paused', payments, seconds: 0 })
    }
    toldPause = isPaused && (toldPause || payments > 0)
  }

  return {
    async round(signal) {
      const { cutOff, release } = watch(signal)
      try {
        return await runRound(signal, cutOff)
      } finally {
        release()
      }
    },

    retry(nonce) {
      retries.forget(nonce)
      dueAt.set(nonce, 0)
    },

    async confirm() {
      const waiting = [...minted.values()].slice(0, limits.paymentsPerRoundMax)
      if (waiting.length === 0) return
      const states = await verifier.mintStates(waiting)
      for (const [i, payment] of waiting.entries()) {
        const { nonce } = payment.challenge
        // A reorg may have taken the mint: the next round sends another.
        if (states[i] === 'due') minted.delete(nonce)
        else if (states[i] === 'minted' && retries.isDue(nonce)) await record(payment)
      }
    },

    waitOf: waits.of,
  }
}

type Round = {
  readonly signal: AbortSignal
  readonly cutOff: Promise<'cut_off'>
  /** Burns of this amount that wait under the root: any of them could explain a mint of it. */
  readonly companyOf: (value: bigint) => number
  mintsLeft: number
  burnsLeft: number
}

/** How many payments of a round took one of these steps. */
export const count = (end: RoundEnd, ...steps: readonly Step[]): number =>
  [...end.values()].filter((step) => steps.includes(step)).length

/** One listener a round, taken off at its end: the signal lives as long as the daemon. */
function watch(signal: AbortSignal): { cutOff: Promise<'cut_off'>; release(): void } {
  let onAbort: () => void = () => undefined
  const cutOff = new Promise<'cut_off'>((resolve) => {
    onAbort = () => resolve('cut_off')
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort)
  })
  return { cutOff, release: () => signal.removeEventListener('abort', onAbort) }
}
