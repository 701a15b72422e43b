/** Proves a payment under a root and sends its mint. */
import type { Clock, Minter, MintOutcome } from '../ports.js'
import type { AwaitingMint } from '../records.js'
import type { FinalizeEvent, MintVerifier, ProvedRoot, ProveMint } from './ports.js'
import type { Progress } from './progress.js'
import type { Round, Step } from './round.js'
import { createWaitForMint } from './wait-for-mint.js'

export type SendMint = (payment: AwaitingMint, root: ProvedRoot, round: Round) => Promise<Step>

export function createSendMint(deps: {
  readonly verifier: Pick<MintVerifier, 'mintStates'>
  readonly prove: ProveMint
  readonly minter: Pick<Minter, 'mint'>
  readonly progress: Progress
  readonly clock: Clock
  readonly report: (event: FinalizeEvent) => void
  /** How long a round waits for the block of one mint. */
  readonly mintWaitMs: number
}): SendMint {
  const { progress, clock, report } = deps
  const waitForMint = createWaitForMint(deps)

  async function end(payment: AwaitingMint, outcome: MintOutcome): Promise<Step> {
    const challengeNonce = payment.challenge.nonce
    if (outcome.kind === 'failed') {
      const [state] = outcome.why === 'would_revert' ? await deps.verifier.mintStates([payment]) : []
      // Somebody else sent the mint while we proved.
      if (state === 'shallow' || state === 'minted') return 'confirming'
      return progress.failed(challengeNonce, outcome.why, outcome.err)
    }
    await progress.schedule.succeeded(challengeNonce)
    report({ event: 'mint.mined', challengeNonce })
    return 'mined'
  }

  return async (payment, root, round) => {
    const challengeNonce = payment.challenge.nonce
    const company = round.companyOf(payment.burn.value)
    report({ event: 'mint.proving', challengeNonce, leaves: root.size, company })
    const startedAt = clock.now()
    const call = await deps.prove(payment, root, round.signal)
    report({ event: 'mint.proved', challengeNonce, ms: clock.now() - startedAt })
    // Until the mint ends, the minter reports it as under way, and nobody sends another.
    const minted = deps.minter.mint(call)
    const outcome = await waitForMint(minted, round)
    if (outcome === 'cut_off') return 'interrupted'
    if (outcome !== 'elapsed') return end(payment, outcome)
    minted
      .then((late) => end(payment, late))
      .catch(async (err) => {
        if (!round.signal.aborted) await progress.failed(challengeNonce, 'unavailable', err)
      })
      // If the schedule cannot be reached either, the next round comes upon the payment again.
      .catch(() => undefined)
    return 'confirming'
  }
}
