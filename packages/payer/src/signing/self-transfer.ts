/** The self-transfer: the payer broadcasts the burn, waits for its receipt and names its hash. */
import {
  type Address,
  type Clock,
  Payload,
  parseHex,
  parseTxHash,
  type TxHash,
  unixSeconds,
} from '@svc-zerc20/protocol'
import { keccak256, type LocalAccount, parseTransaction, serializeTransaction } from 'viem'
import type { PayerLimits } from '../limits.js'
import { checkFresh, type PayableOffer } from '../offer.js'
import { afterSigning, PayerError } from '../payer-error.js'
import { assertCovers, type Permission } from '../policy/permission.js'
import type { AccountQueue } from '../state/account-queue.js'
import type { Totals } from '../state/capped-totals.js'
import type { PaymentMemory, PaymentRecord } from '../state/payments.js'
import { transferSeat } from './burns.js'
import type { PayerChain } from './chain.js'
import type { CheckSeat } from './make-payload.js'
import type { PermissionToSign } from './sign-permit.js'

export type TransferSigner = Pick<LocalAccount, 'signTransaction'>
type Burn = NonNullable<PaymentRecord['burn']>

/**
 * Pays an offer by a transfer to its burn address and waits for the receipt. A second call for the same
 * challenge sends the same signed bytes and waits further; it never signs a second transfer. Nothing that a node
 * answers to the bytes takes them back: anybody who has seen them can send them.
 */
export function createSelfTransfer({
  signer,
  payer,
  signing,
  chain,
  totals,
  queue,
  memory,
  clock,
  limits,
}: {
  readonly signer: TransferSigner
  readonly payer: Address
  readonly signing: PermissionToSign['signing']
  readonly chain: Pick<
    PayerChain,
    'prepareTransfer' | 'nextTxNonce' | 'broadcast' | 'receiptStatus' | 'verdictOf'
  >
  readonly totals: Pick<Totals, 'noteTxNonce'>
  readonly queue: AccountQueue
  readonly memory: PaymentMemory
  readonly clock: Clock
  readonly limits: Pick<PayerLimits, 'receiptWaitMsMax' | 'receiptPollMs' | 'transferSecondsMin'>
}): (
  offer: PayableOffer,
  permission: Permission | undefined,
  checkSeat: CheckSeat,
) => Promise<Record<string, unknown>> {
  const awaitReceipt = createAwaitReceipt({ chain, clock, limits })

  async function sign(offer: PayableOffer, permission: Permission, txNonce: number): Promise<Burn> {
    checkFresh(offer, unixSeconds(clock), limits.transferSecondsMin)
    const { token, payTo: to, amount: value } = offer
    const transaction = await chain.prepareTransfer({ token, to, value }, txNonce)
    assertCovers(permission, payer, 'self-transfer', offer)
    await signing(permission, { transaction: keccak256(serializeTransaction(transaction)) })
    const raw = parseHex(await signer.signTransaction(transaction))
    const hash = raw && parseTxHash(keccak256(raw))
    if (!raw || !hash) throw new PayerError('signature_unusable', 'the signed transaction is not hex')
    // The transfer is stored before it is sent. If another process stored one first, only that one is used.
    const { record } = await memory.hold(
      offer.challengeNonce,
      (before) => before && { ...before, burn: before.burn ?? { hash, raw } },
    )
    if (!record?.burn) throw new PayerError('state_unusable', `challenge ${offer.challengeNonce} is gone`)
    return record.burn
  }

  async function send({ payTo }: PayableOffer, { hash, raw }: Burn): Promise<void> {
    const sent = await chain.broadcast(hash, raw)
    if (sent.result !== 'refused') return
    const said = `to ${payTo}: the node refused it (${sent.why})`
    throw new PayerError('burn_unconfirmed', said, { burnTxHash: hash, cause: sent.cause })
  }

  /** Signs the next transaction of the account. The turn ends once the node was given the bytes. */
  const begin = (offer: PayableOffer, permission: Permission, checkSeat: CheckSeat): Promise<Burn> =>
    queue.take(async (signed, keep) => {
      const { txNonce, waiting } = await chain.nextTxNonce(signed, unixSeconds(clock))
      await checkSeat(transferSeat(payer, txNonce))
      const burn = await sign(offer, permission, txNonce)
      try {
        await noteTxNonce(offer, burn)
        await keep([...waiting, { ...burn, txNonce, expiresAt: offer.expiresAt }])
      } catch (error) {
        throw afterSigning(error, `to ${offer.payTo}`, burn.hash) // the next try sends these bytes
      }
      await send(offer, burn)
      return burn
    })

  const noteTxNonce = ({ challengeNonce }: PayableOffer, { raw }: Burn) =>
    totals.noteTxNonce(challengeNonce, parseTransaction(raw).nonce ?? 0)

  /** Goes on with a transfer that was signed before. Tells whether it burned: its receipt may be gone by now. */
  async function goOn(offer: PayableOffer, record: PaymentRecord, burn: Burn): Promise<boolean> {
    // The first try may have failed to write it. A folder that fails now costs nothing: the next try repeats it.
    await noteTxNonce(offer, burn).catch(() => undefined)
    const { state } = await chain.verdictOf(record)
    if (state === 'burned') return true
    if (state === 'absent') {
      const { hash: burnTxHash } = burn
      const isReverted = (await chain.receiptStatus(burnTxHash).catch(() => undefined)) === 'reverted'
      const code = isReverted ? 'burn_reverted' : 'burn_missed'
      throw new PayerError(code, `to ${offer.payTo}`, { burnTxHash })
    }
    // The same bytes can be mined once only, so sending them again is safe if the first try was lost.
    if (offer.expiresAt > unixSeconds(clock)) await send(offer, burn)
    return false
  }

  return async (offer, permission, checkSeat) => {
    const { challengeNonce } = offer
    const record = await memory.get(challengeNonce)
    const begun = record?.burn
    if (!begun && !permission) throw new PayerError('offer_changed', `challenge ${challengeNonce}`)
    const isBurned = record !== undefined && begun !== undefined && (await goOn(offer, record, begun))
    const { hash } = begun ?? (await begin(offer, permission as Permission, checkSeat))
    if (!isBurned) await awaitReceipt(offer, hash)
    return Payload.toWire({ kind: 'self-transfer', challengeNonce, burnTxHash: hash })
  }
}

function createAwaitReceipt({
  chain,
  clock,
  limits,
}: {
  readonly chain: Pick<PayerChain, 'receiptStatus'>
  readonly clock: Clock
  readonly limits: Pick<PayerLimits, 'receiptWaitMsMax' | 'receiptPollMs'>
}) {
  return async ({ payTo, expiresAt }: PayableOffer, hash: TxHash): Promise<void> => {
    const until = Math.min(clock.now() + limits.receiptWaitMsMax, expiresAt * 1_000)
    let cause: unknown
    for (;;) {
      try {
        const status = await chain.receiptStatus(hash)
        if (status === 'success') return
        if (status === 'reverted') {
          const why = `to ${payTo}: it reverted, and its block is not deep enough yet to stay`
          throw new PayerError('burn_unconfirmed', why, { burnTxHash: hash })
        }
      } catch (error) {
        if (error instanceof PayerError) throw error
        cause = error // a node that fails to answer says nothing about the burn
      }
      if (clock.now() >= until) {
        throw new PayerError('burn_unconfirmed', `to ${payTo}`, { burnTxHash: hash, cause })
      }
      await clock.sleep(limits.receiptPollMs)
    }
  }
}
