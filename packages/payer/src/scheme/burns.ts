/** The burns of payments, as the chain shows them. Nothing that a seller says of a burn is passed on unseen. */
import { type Address, parseTxHash, type TxHash } from '@svc-zerc20/protocol'
import type { Clock } from '../clock.js'
import type { PayerLimits } from '../limits.js'
import type { PaymentRecord } from '../payment/payment-memory.js'
import type { PayerChain } from '../signing/chain.js'

export type Burns = {
  /** The hash of a payment's burn: our own transfer, or the one that a seller names and the chain has. */
  burnOf(record: PaymentRecord, named: string | undefined): Promise<TxHash | undefined>
  /** Whether the chain has the burn of a payment. */
  isBurned(record: PaymentRecord): Promise<boolean>
}

export function createBurns({
  chain,
  payer,
  clock,
  limits,
}: {
  readonly chain: Pick<PayerChain, 'isBurn' | 'burnState'>
  readonly payer: Address
  readonly clock: Clock
  readonly limits: Pick<PayerLimits, 'burnLookMsMax' | 'receiptPollMs'>
}): Burns {
  return {
    async burnOf({ burn, accepted }, named) {
      if (burn) return burn.hash
      const hash = parseTxHash(named)
      if (hash === undefined) return undefined
      const { asset: token, payTo, amount } = accepted
      const untilMs = clock.now() + limits.burnLookMsMax
      for (;;) {
        const isBurn = await chain.isBurn(hash, { token, payTo, amount })
        if (isBurn !== undefined) return isBurn ? hash : undefined
        if (clock.now() >= untilMs) return undefined
        await clock.sleep(limits.receiptPollMs)
      }
    },

    async isBurned({ challengeNonce, burn, accepted }) {
      const { asset: token, payTo, amount, extra } = accepted
      const { helper, deadline } = extra
      const way = burn ? 'self-transfer' : 'permit'
      const promised = { way, helper, deadline, token, payer, payTo, amount } as const
      return (await chain.burnState(challengeNonce, promised, burn)) === 'burned'
    },
  }
}
