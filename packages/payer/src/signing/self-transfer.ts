/** The self-transfer: the payer broadcasts the burn, waits for its receipt and names its hash. */
import {
  type Address,
  createSerial,
  type Hex,
  Payload,
  parseHex,
  parseTxHash,
  type TxHash,
} from '@svc-zerc20/protocol'
import { keccak256, type LocalAccount, serializeTransaction } from 'viem'
import { type Clock, unixSeconds } from '../clock.js'
import type { PayerLimits } from '../limits.js'
import { checkFresh, type PayableOffer } from '../offer/payable-offer.js'
import { PayerError } from '../payer-error.js'
import type { PaymentMemory } from '../payment/payment-memory.js'
import { assertCovers, type Permission } from '../policy/permission.js'
import type { PayerChain } from './chain.js'
import type { Leave } from './sign-permit.js'

export type TransferSigner = Pick<LocalAccount, 'signTransaction'>
/** The one transaction of a challenge, and whether this process signed it. */
type Begun = { readonly hash: TxHash; readonly raw: Hex; readonly isOurs: boolean }

/**
 * Pays an offer by a transfer to its burn address and waits for the receipt. A second call for the same
 * challenge sends the same signed bytes and waits further; it never signs a second transfer.
 */
export function createSelfTransfer({
  signer,
  payer,
  signing,
  chain,
  secondsNeeded,
  memory,
  clock,
  limits,
}: {
  readonly signer: TransferSigner
  readonly payer: Address
  readonly signing: Leave['signing']
  readonly chain: Pick<PayerChain, 'prepareTransfer' | 'whyRefused' | 'broadcast' | 'receiptStatus'>
  /** Seconds that an offer must have left for its transfer to be mined in time. */
  readonly secondsNeeded: () => Promise<number>
  readonly memory: PaymentMemory
  readonly clock: Clock
  readonly limits: Pick<PayerLimits, 'receiptWaitMsMax' | 'receiptPollMs'>
}): (offer: PayableOffer, permission: Permission | undefined) => Promise<Record<string, unknown>> {
  // The account's next nonce is known only once the transfer before has reached the node.
  const serial = createSerial()

  async function sign(offer: PayableOffer, permission: Permission | undefined): Promise<Begun> {
    if (permission === undefined) throw new PayerError('offer_changed', `challenge ${offer.challengeNonce}`)
    const needed = await secondsNeeded()
    checkFresh(offer, unixSeconds(clock), needed)
    const { token, payTo: to, amount: value } = offer
    const transaction = await chain.prepareTransfer({ token, to, value })
    assertCovers(permission, payer, 'self-transfer', offer)
    await signing(permission, { transaction: keccak256(serializeTransaction(transaction)) })
    const raw = parseHex(await signer.signTransaction(transaction))
    const hash = raw && parseTxHash(keccak256(raw))
    if (!raw || !hash) throw new PayerError('signature_unusable', 'the signed transaction is not hex')
    // The transfer is stored before it is sent. If another process stored one first, only that one is used.
    const { isOurs, record } = await memory.hold(
      offer.challengeNonce,
      (before) => before && { ...before, burn: before.burn ?? { hash, raw } },
    )
    if (!record?.burn) throw new PayerError('state_unusable', `challenge ${offer.challengeNonce} is gone`)
    return { ...record.burn, isOurs: isOurs && record.burn.hash === hash }
  }

  async function signAndSend(offer: PayableOffer, permission: Permission | undefined): Promise<TxHash> {
    const { hash, raw, isOurs } = await sign(offer, permission)
    const sent = await chain.broadcast(hash, raw)
    if (sent.result === 'refused' && isOurs) {
      await memory.hold(offer.challengeNonce, (record) => {
        if (!record || record.payload) return record
        const { burn: _, ...unburned } = record
        return unburned
      })
      const { token, payTo: to, amount: value } = offer
      throw await chain.whyRefused({ token, to, value }, sent.cause)
    }
    return hash
  }

  async function awaitReceipt(offer: PayableOffer, hash: TxHash): Promise<void> {
    const until = Math.min(clock.now() + limits.receiptWaitMsMax, offer.expiresAt * 1_000)
    let cause: unknown
    for (;;) {
      try {
        const status = await chain.receiptStatus(hash)
        if (status === 'success') return
        if (status === 'reverted') {
          throw new PayerError('burn_reverted', `to ${offer.payTo}`, { burnTxHash: hash })
        }
      } catch (error) {
        if (error instanceof PayerError) throw error
        cause = error // a node that fails to answer says nothing about the burn
      }
      if (clock.now() >= until) {
        throw new PayerError('burn_unconfirmed', `to ${offer.payTo}`, { burnTxHash: hash, cause })
      }
      await clock.sleep(limits.receiptPollMs)
    }
  }

  return async (offer, permission) => {
    const { challengeNonce } = offer
    const begun = (await memory.get(challengeNonce))?.burn
    // The same bytes can be mined once only, so sending them again is safe if the first try was lost.
    if (begun) await chain.broadcast(begun.hash, begun.raw)
    const hash = begun?.hash ?? (await serial(() => signAndSend(offer, permission)))
    await awaitReceipt(offer, hash)
    return Payload.toWire({ kind: 'self-transfer', challengeNonce, burnTxHash: hash })
  }
}
