/** Takes up permits whose burns nobody began: they were claimed at daemons that do not send, or only the answer to the claim got lost. */
import type { Address, ChallengeNonce, Clock } from '@svc-zerc20/protocol'
import type { Ledger } from '../ledger-port.js'
import { type Loop, startLoop } from '../loop.js'
import { isForOtherSender, type UnsignedClaim } from '../records.js'
import type { Report } from '../report.js'
import type { Burns } from './burns.js'
import type { LedgerChanges } from './shared-burns.js'

export function startHandOver(deps: {
  readonly ledger: Pick<Ledger, 'unsigned' | 'unsignedClaims' | 'adopt'>
  /** The account that sends here, where several daemons have the ledger. */
  readonly account: Address | undefined
  readonly burns: Pick<Burns, 'start' | 'takeUp' | 'isUnderWay'>
  readonly changes: Pick<LedgerChanges, 'listen' | 'everyMs'>
  readonly clock: Clock
  readonly report: Report
  /** Pause before a claim is taken up again whose burn broke off, or whose sender lived a moment ago. */
  readonly retryMs: number
}): Loop {
  const { ledger, account, burns, changes, clock, report } = deps
  /** Claims that were taken up, and when. */
  const takenUp = new Map<ChallengeNonce, number>()
  let adoptedAtMs = 0
  /** The unsigned claims of the last round. A newer one was examined a moment ago, when it was claimed. */
  let seenBefore: ReadonlySet<ChallengeNonce> | undefined

  /** From the next round on they are ours, if their sender is gone. */
  async function adopt(foreign: readonly UnsignedClaim[]): Promise<void> {
    if (!account || foreign.length === 0 || clock.now() < adoptedAtMs + deps.retryMs) return
    adoptedAtMs = clock.now()
    await ledger.adopt(
      foreign.map(({ challenge }) => challenge.nonce),
      account,
    )
  }

  async function round(): Promise<void> {
    const unsigned = new Set(await ledger.unsigned())
    for (const nonce of takenUp.keys()) if (!unsigned.has(nonce)) takenUp.delete(nonce)
    const isDue = (nonce: ChallengeNonce) =>
      !burns.isUnderWay(nonce) && clock.now() >= (takenUp.get(nonce) ?? 0) + deps.retryMs
    const due = [...unsigned].filter(isDue)
    const claims = due.length > 0 ? await ledger.unsignedClaims(due) : []
    const isOwn = (claim: UnsignedClaim) => !isForOtherSender(claim, account)
    await adopt(claims.filter((claim) => !isOwn(claim)))
    const seen = seenBefore
    seenBefore = unsigned
    const takingUp = claims.filter(isOwn).map((claim) => {
      const { nonce } = claim.challenge
      takenUp.set(nonce, clock.now())
      const isFresh = seen?.has(nonce) === false
      return isFresh ? burns.start(claim, 'burnable') : burns.takeUp(claim)
    })
    await Promise.allSettled(takingUp).then((ends) => {
      for (const end of ends) if (end.status === 'rejected') throw end.reason
    })
  }

  const loop = startLoop({
    round,
    clock,
    periodMs: changes.everyMs,
    onFailure: (err) => report({ event: 'burn.hand_over_failed', err }),
  })
  const stopListening = changes.listen(loop.wake)
  return {
    wake: loop.wake,
    stop() {
      stopListening()
      return loop.stop()
    },
  }
}
