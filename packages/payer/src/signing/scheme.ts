/** The scheme for `x402Client.register`. */
import { type Address, type Clock, Offer, unixSeconds } from '@svc-zerc20/protocol'
import type { SchemeNetworkClient } from '@x402/core/types'
import type { LocalAccount } from 'viem'
import type { PayerLimits } from '../limits.js'
import { checkFresh, isFresh, offerIn, type PayableOffer, readOffer } from '../offer.js'
import { judgeAnswer } from '../outcome.js'
import { PayerError } from '../payer-error.js'
import type { Approver } from '../policy/approval.js'
import { createGuard, type Guard } from '../policy/guard.js'
import { addressesOf } from '../policy/hosts.js'
import { checkPermitOffer } from '../policy/offer-rules.js'
import type { Way } from '../policy/permission.js'
import type { Policy } from '../policy/policy.js'
import type { Bounds } from '../policy/purchase.js'
import { createAccountQueue } from '../state/account-queue.js'
import type { PayerState } from '../state/open-state.js'
import { createPermitNonces, type PermitNonces } from '../state/permit-nonces.js'
import { createReconcile } from '../state/reconcile.js'
import type { Burns } from './burns.js'
import type { PayerChain } from './chain.js'
import { createDeliveries, type Deliveries } from './deliveries.js'
import { createHelperTrust, type HelperTrust } from './helper-trust.js'
import { createMakePayload } from './make-payload.js'
import { createSelfTransfer } from './self-transfer.js'
import { signPermit } from './sign-permit.js'

export type PayerScheme = SchemeNetworkClient & {
  /** The state of the payments made. `deliverPayments` uses it. */
  readonly deliveries: Deliveries
  /** How this payer would pay an offer. */
  wayOf(offer: PayableOffer): Way
  /** Whether a well-formed offer lives long enough to be paid in the way this payer would pay it. */
  leavesTime(offer: unknown): boolean
  /** Limits for one request alone. None unless the scheme came from `within`. */
  readonly bounds: Bounds
  /** The same payer with limits for one request. They hold for everything that is signed through it. */
  within(bounds: Bounds): PayerScheme
  /** Decides whether money may move. `deliverPayments` asks it for every host. */
  readonly guard: Guard
  readonly burns: Pick<Burns, 'burnOf' | 'verdictOf'>
  readonly limits: PayerLimits
  readonly clock: Clock
}

export type PayerMode = Way

/** The key of the paying account: any viem local account. */
export type PayerAccount = Pick<LocalAccount, 'address' | 'signTypedData' | 'signTransaction'>

export type SchemeParts = {
  readonly account: PayerAccount
  readonly payer: Address
  readonly chainId: number
  readonly mode: PayerMode
  /** How to pay in permit mode when an offer has no gasless path. Without it such offers are refused. */
  readonly fallback: 'self-transfer' | undefined
  readonly policy: Policy
  readonly approver: Approver | undefined
  readonly state: PayerState
  readonly clock: Clock
  readonly limits: PayerLimits
}

/** The scheme with its guard. Everything that pays is made of it. */
export function createScheme(parts: SchemeParts, chain: PayerChain): PayerScheme {
  const { account, payer, mode, fallback, policy, state, chainId, clock, limits } = parts
  const { totals, audit, memory } = state
  const { allowedHelpers } = policy
  const reconcile = createReconcile({ totals, audit, memory, burnState: chain.burnState, clock, limits })
  const helperTrust = createHelperTrust({ codeAt: chain.codeAt, chainId, allowedHelpers, limits })
  const guard = createGuard({
    ...parts,
    totals,
    audit,
    checkHelper: helperTrust,
    inTokens: chain.inTokens,
    reconcile: reconcile.now,
    addressesOf: (hostname) => addressesOf(hostname, clock),
  })
  const lanes = state.permits(chainId, payer)
  const nonces = createPermitNonces({ readFacts: chain.permitFacts, lanes, clock, limits })
  const { verdictOf } = chain
  const deliveries = createDeliveries({ memory, nonces, guard, verdictOf, limits })
  const payByPermit = createPayByPermit(parts, nonces, helperTrust, guard)
  const queue = createAccountQueue({ cell: state.account(chainId, payer), clock, limits })
  const payByTransfer = createSelfTransfer({
    signer: account,
    payer,
    signing: guard.signing,
    chain,
    totals,
    queue,
    memory,
    clock,
    limits,
  })
  const wayOf = ({ helper }: PayableOffer): Way =>
    mode === 'self-transfer' || (fallback === 'self-transfer' && helper === undefined)
      ? 'self-transfer'
      : 'permit'
  const pay: Parameters<typeof createMakePayload>[0]['pay'] = (offer, permission, again) => {
    reconcile.beside()
    return wayOf(offer) === 'self-transfer'
      ? payByTransfer(offer, permission, again.checkSeat)
      : payByPermit(offer, permission, again)
  }
  const makePayload = createMakePayload({ pay, wayOf, guard, memory, deliveries, verdictOf })

  const within = (bounds: Bounds): PayerScheme => ({
    scheme: Offer.scheme,
    deliveries,
    guard,
    burns: chain,
    wayOf,
    limits,
    clock,
    bounds,
    within,

    leavesTime(raw) {
      const offer = offerIn(raw)
      // A fresh one would not be better.
      if (offer instanceof PayerError) return true
      const needed = wayOf(offer) === 'self-transfer' ? limits.transferSecondsMin : 0
      return isFresh(offer, unixSeconds(clock), needed)
    },

    async createPaymentPayload(x402Version, paymentRequirements) {
      const payload = await makePayload(x402Version, paymentRequirements, bounds)
      return { x402Version, payload: { ...payload } }
    },

    schemeHooks: {
      /** The official fetch client sends again once when told `recovered`, and then asks for another payload. */
      async onPaymentResponse({ requirements, settleResponse, paymentRequired }) {
        const { challengeNonce } = readOffer(Offer.x402Version, requirements)
        // A `deliverPayments` beneath the client has seen the whole answer. This hook is told no status, and would take
        // an error with a receipt for a delivery.
        const record = await memory.get(challengeNonce)
        if (record?.header !== undefined || (await memory.isOver(challengeNonce))) return
        const outcome = judgeAnswer({ settleResponse, paymentRequired })
        const transaction = record && (await chain.burnOf(record, settleResponse?.transaction))
        const { next } = await deliveries.ended(challengeNonce, outcome, { transaction })
        if (next === 'done') return
        await clock.sleep(limits.resendDelayMs)
        return { recovered: true }
      },
    },
  })
  return within({})
}

/** Looks at the helper, waits for the permit nonce to be free, then signs. */
function createPayByPermit(
  { account, payer, clock, limits }: SchemeParts,
  nonces: PermitNonces,
  helperTrust: HelperTrust,
  { signing }: Pick<Guard, 'signing'>,
): Parameters<typeof createMakePayload>[0]['pay'] {
  return async (offer, permission, { outrunNonce, checkSeat }) => {
    if (permission === undefined) throw new PayerError('offer_changed', `challenge ${offer.challengeNonce}`)
    const payable = checkPermitOffer(offer, unixSeconds(clock), limits.signatureSecondsMax)
    await helperTrust(payable.helper)
    if (outrunNonce !== undefined) await nonces.moved(payable.token, outrunNonce)
    const facts = await nonces.hold(payable.token, payable.challengeNonce, payable.deadline)
    try {
      checkFresh(payable, unixSeconds(clock)) // the turn may have come late
      await checkSeat()
      if (facts.balance < payable.amount)
        throw new PayerError(
          'no_tokens',
          `${payer} holds ${facts.balance} of the ${payable.amount} base units`,
        )
      return await signPermit(account, payer, payable, facts, { permission, signing })
    } catch (error) {
      await nonces.release(payable.challengeNonce, false)
      throw error
    }
  }
}
