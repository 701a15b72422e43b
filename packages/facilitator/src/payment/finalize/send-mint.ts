/** Proves a payment under a root and sends its mint; takes up mints that an earlier run signed. */
import type { Ledger } from '../ledger-port.js'
import type { Clock, Minter, MintOutcome } from '../ports.js'
import type { AwaitingMint } from '../records.js'
import type { FinalizeEvent, MintVerifier, ProvedRoot, ProveMint } from './ports.js'
import type { Progress } from './progress.js'
import { type Round, type Step, waitForMint } from './round.js'

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
    const outcome = await waitForMint(deps, minted, round)
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

/** Hands mints that an earlier run signed back to the minter, before the relayer assigns new txNonces. */
export async function resumeMints(deps: {
  readonly ledger: Pick<Ledger, 'interrupted'>
  readonly minter: Pick<Minter, 'resume'>
  readonly report: (event: FinalizeEvent) => void
}): Promise<void> {
  const { minter, report } = deps
  for (const interrupted of (await deps.ledger.interrupted()).mints) {
    // However the mint ends, the next round sees on the chain how far it got.
    minter.resume(interrupted).catch((err) => report({ event: 'finalize.failed', err }))
    for (const nonce of interrupted.nonces) report({ event: 'mint.resumed', challengeNonce: nonce })
  }
}
