/** Burns that await their mint, and mints that finalize them. */
import type { Ledger } from '../payment/ledger-port.js'
import { mintable } from './burns.js'
import type { LedgerCore } from './core.js'
import { awaitedBurnOf } from './state/payment-record.js'

/** Payments that are unpacked in one go. There may be very many, and requests must not wait for all of them. */
const awaitingAtOnce = 256

export function createMintRecords(
  core: LedgerCore,
): Pick<Ledger, 'awaitingMint' | 'recordMintSigned' | 'finalize'> {
  const { state } = core
  return {
    async *awaitingMint() {
      let unpacked = 0
      for (const payment of state.awaitingMint()) {
        unpacked += 1
        if (unpacked % awaitingAtOnce === 0) await new Promise((resolve) => setImmediate(resolve))
        const awaited = awaitedBurnOf(payment)
        if (awaited) yield awaited
      }
    },

    recordMintSigned: (transaction, nonces) => core.journalled({ event: 'mint_signed', nonces, transaction }),

    async finalize(nonce, mint, burned) {
      const refusal = () => {
        const awaited = awaitedBurnOf(mintable(core, nonce))
        if (!awaited) return 'already_finalized'
        return awaited.burn.value > burned ? 'outgrown' : undefined
      }
      const refused = refusal()
      if (refused !== undefined) return refused
      const event = { event: 'payment_finalized', nonce, mint, at: core.nowSeconds(), burned } as const
      await core.log.append(event)
      const overtaken = refusal()
      if (overtaken !== undefined) return overtaken
      state.apply(event)
      return 'finalized'
    },
  }
}
