/** Burns that a reorg moved, took away or brought back, on their way to a mint. */
import { demote } from '../demote.js'
import type { Ledger } from '../ledger-port.js'
import type { AwaitingMint } from '../records.js'
import type { Report } from '../report.js'
import type { RereadBurn } from './ports.js'
import type { Progress } from './progress.js'

export type ReorgedBurns = ReturnType<typeof createReorgedBurns>

export function createReorgedBurns(deps: {
  readonly ledger: Pick<Ledger, 'find' | 'demote' | 'demoted' | 'accept' | 'moveBurn'>
  readonly reread: RereadBurn
  readonly progress: Progress
  readonly report: Report
  /** Blocks that must hold a burn which came back after a reorg. */
  readonly burnConfirmations: number
}) {
  const { ledger, reread, progress, report } = deps
  const { schedule } = progress
  return {
    /** Accepts burns again that a reorg took away and a later block brought back. */
    async acceptReturned(signal: AbortSignal): Promise<void> {
      for await (const { challenge, burn } of ledger.demoted()) {
        const { nonce } = challenge
        if (signal.aborted) return
        if ((await schedule.failuresOf(nonce)).isResting) continue
        const returned = await reread(challenge, burn).catch(() => undefined)
        if (!returned || returned.depth < deps.burnConfirmations) {
          // A burn that stays away must not hold up the other burns.
          await schedule.failed(nonce)
          continue
        }
        await schedule.succeeded(nonce)
        if ((await ledger.accept(nonce, returned.burn)) !== 'accepted') continue
        report({ event: 'payment.returned', challengeNonce: nonce, txHash: returned.burn.txHash })
      }
    },

    /** The payment with its burn as the chain holds it now; undefined when no block holds it. */
    async withCurrentBurn(payment: AwaitingMint): Promise<AwaitingMint | undefined> {
      const { challenge, burn, acceptedAt } = payment
      const current = (await reread(challenge, burn))?.burn
      if (current) {
        if (current.leafIndex === burn.leafIndex && current.blockHash === burn.blockHash) return payment
        await ledger.moveBurn(challenge.nonce, current)
        return { ...payment, burn: current }
      }
      if (acceptedAt === undefined) {
        // A late burn bought nothing that could be taken back. Its payment only waits, longer each time.
        await progress.failed(challenge.nonce, 'burn_lost', undefined)
        return undefined
      }
      await demote(deps, challenge.nonce)
      await progress.forget(challenge.nonce)
      return undefined
    },
  }
}
