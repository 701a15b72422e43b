/**
 * accepted → proof → mint → finalized, minutes after the request and never on its path.
 *
 * The chain is the truth: a payment is finalized when the verifier has minted it, deep enough that a reorg cannot
 * take it back, whoever sent the mint. So a round can be repeated, or cut off anywhere, and nothing is minted twice.
 */
import type { ChallengeNonce } from '@svc-zerc20/protocol'
import type {
  FinalizeEvent,
  MintState,
  MintVerifier,
  ProvedRoot,
  ProveMint,
  RereadBurn,
} from './mint-ports.js'
import type { AwaitingMint, Clock, Ledger, Minter } from './ports.js'
import { createRetries } from './retries.js'

/** Payments of one round by what became of them; `progressed` ones may have more to do at once. */
export type RoundEnd = { readonly progressed: number; readonly waiting: number; readonly failed: number }

type StepEnd = keyof RoundEnd

export type Finalize = {
  round(signal: AbortSignal): Promise<RoundEnd>
  /** An operator wants this payment tried now, whatever its back-off says. */
  retry(nonce: ChallengeNonce): void
}

export type FinalizeDeps = {
  readonly ledger: Pick<Ledger, 'awaitingMint' | 'finalize' | 'demote' | 'demoted' | 'accept' | 'recordLate'>
  readonly verifier: MintVerifier
  readonly reread: RereadBurn
  readonly prove: ProveMint
  readonly minter: Minter
  readonly clock: Clock
  readonly report: (event: FinalizeEvent) => void
  /** Milliseconds a mint is held back from when its burn is first seen here: a delay that tells no one which burn. */
  readonly delayMs: () => number
  readonly retryMs: { readonly first: number; readonly max: number }
  /** Payments looked at in one round, and of those how many are proved and sent at once. */
  readonly paymentsPerRoundMax: number
  readonly attemptsInFlightMax: number
}

export function createFinalize(deps: FinalizeDeps): Finalize {
  const { ledger, verifier, clock, report } = deps
  const retries = createRetries<ChallengeNonce>({ clock, ...deps.retryMs })
  const dueAt = new Map<ChallengeNonce, number>()

  /** Payments whose turn it is, oldest burn first. */
  async function candidates(): Promise<AwaitingMint[]> {
    const due: AwaitingMint[] = []
    for await (const payment of ledger.awaitingMint()) {
      if (due.length === deps.paymentsPerRoundMax) break
      const { nonce } = payment.challenge
      const at = dueAt.get(nonce) ?? clock.now() + deps.delayMs()
      dueAt.set(nonce, at)
      if (clock.now() >= at && retries.isDue(nonce)) due.push(payment)
    }
    return due
  }

  /** Burns that a reorg took away and a later block brought back. */
  async function acceptReturned(): Promise<void> {
    for await (const { challenge, burn } of ledger.demoted()) {
      const returned = await deps.reread(challenge, burn)
      if (returned) await ledger.accept(challenge.nonce, returned)
    }
  }

  /** The payment with the burn as the chain holds it now: a reorg may have moved it, or taken it away. */
  async function withCurrentBurn(payment: AwaitingMint): Promise<AwaitingMint | undefined> {
    const { challenge, burn } = payment
    const current = await deps.reread(challenge, burn)
    if (current && current.leafIndex === burn.leafIndex && current.blockHash === burn.blockHash)
      return payment
    const isLate = payment.acceptedAt === undefined
    if (!isLate) await ledger.demote(challenge.nonce)
    if (!current) {
      report({ event: 'payment.demoted', challengeNonce: challenge.nonce, txHash: burn.txHash })
      return undefined
    }
    if (isLate) await ledger.recordLate(challenge, current)
    else await ledger.accept(challenge.nonce, current)
    return { ...payment, burn: current }
  }

  async function attempt(payment: AwaitingMint, root: ProvedRoot, signal: AbortSignal): Promise<StepEnd> {
    const challengeNonce = payment.challenge.nonce
    const current = await withCurrentBurn(payment)
    if (!current) return 'progressed'
    if (current.burn.leafIndex >= root.size) return 'waiting'
    report({ event: 'mint.proving', challengeNonce, leaves: root.size })
    const startedAt = clock.now()
    const call = await deps.prove(current, root, signal)
    report({ event: 'mint.proved', challengeNonce, ms: clock.now() - startedAt })
    // What is sent is on record: the next run takes it up.
    const outcome = await Promise.race([deps.minter.mint(call), aborted(signal)])
    if (outcome === 'aborted') return 'waiting'
    if (outcome.kind === 'failed') return failed(challengeNonce, outcome.why, outcome.err)
    report({ event: 'mint.mined', challengeNonce })
    return 'progressed'
  }

  function failed(nonce: ChallengeNonce, reason: string, err: unknown): StepEnd {
    retries.failed(nonce)
    report({ event: 'mint.failed', challengeNonce: nonce, reason, err })
    return 'failed'
  }

  async function record(payment: AwaitingMint): Promise<StepEnd> {
    const { nonce } = payment.challenge
    const mint = await verifier.findMint(payment)
    if (!mint) return failed(nonce, 'mint_not_found', undefined)
    await ledger.finalize(nonce, mint)
    dueAt.delete(nonce)
    retries.forget(nonce)
    report({ event: 'payment.finalized', challengeNonce: nonce })
    return 'progressed'
  }

  async function step(
    payment: AwaitingMint,
    state: MintState,
    root: ProvedRoot,
    signal: AbortSignal,
  ): Promise<StepEnd> {
    if (signal.aborted) return 'waiting'
    try {
      if (state === 'minted') return await record(payment)
      if (state === 'shallow' || root.isPaused || payment.burn.leafIndex >= root.size) return 'waiting'
      return await attempt(payment, root, signal)
    } catch (err) {
      return signal.aborted ? 'waiting' : failed(payment.challenge.nonce, 'unavailable', err)
    }
  }

  return {
    async round(signal) {
      await acceptReturned()
      const due = await candidates()
      const end = { progressed: 0, waiting: 0, failed: 0 }
      if (due.length === 0) return end
      const [root, states] = await Promise.all([verifier.latestRoot(), verifier.mintStates(due)])
      const queue = due.map((payment, i) => ({ payment, state: states[i] ?? 'due' }))
      const work = async () => {
        for (let next = queue.shift(); next; next = queue.shift()) {
          end[await step(next.payment, next.state, root, signal)] += 1
        }
      }
      await Promise.all(Array.from({ length: deps.attemptsInFlightMax }, work))
      if (root.isPaused && end.waiting > 0) {
        report({ event: 'finalize.waiting', reason: 'the verifier is paused', payments: end.waiting })
      }
      return end
    },

    retry(nonce) {
      retries.forget(nonce)
      dueAt.set(nonce, 0)
    },
  }
}

function aborted(signal: AbortSignal): Promise<'aborted'> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve('aborted')
    else signal.addEventListener('abort', () => resolve('aborted'), { once: true })
  })
}
