/** The scheme for `x402Client.register`. */
import { Offer } from '@svc-zerc20/protocol'
import type { SchemeNetworkClient } from '@x402/core/types'
import { type Clock, unixSeconds } from '../clock.js'
import type { PayerLimits } from '../limits.js'
import { checkFresh, isFresh, type PayableOffer, readOffer } from '../offer/payable-offer.js'
import { PayerError } from '../payer-error.js'
import { judgeAnswer } from '../payment/outcome.js'
import { addressesOf } from '../policy/addresses.js'
import { createGuard, type Guard, type GuardPorts } from '../policy/guard.js'
import type { Way } from '../policy/permission.js'
import type { Bounds } from '../policy/purchase.js'
import { createBlockSeconds } from '../signing/block-time.js'
import { createPayerChain, type PayerChain } from '../signing/chain.js'
import { createHelperTrust, type HelperTrust } from '../signing/helper-trust.js'
import { createPermitNonces, type PermitLanes, type PermitNonces } from '../signing/permit-nonces.js'
import { createSelfTransfer } from '../signing/self-transfer.js'
import { signPermit } from '../signing/sign-permit.js'
import { createInTokens } from '../signing/token-label.js'
import { type AccountState, createAccountTurns } from '../store/account-turns.js'
import { noAudit } from '../store/audit-log.js'
import { type Cell, createMemoryCell } from '../store/cell.js'
import { createReconcile } from '../totals/reconcile.js'
import { createTotals } from '../totals/totals.js'
import { type Burns, createBurns } from './burns.js'
import { createDeliveries, type Deliveries } from './deliveries.js'
import { createMakePayload } from './make-payload.js'
import { type PayerConfig, type PayerOptions, readOptions } from './payer-options.js'
import { checkPermitOffer } from './permit-offer.js'

export type PayerScheme = SchemeNetworkClient & {
  /** The state of the payments made. `deliverPayments` uses it. */
  readonly deliveries: Deliveries
  /** How this payer would pay an offer. */
  wayOf(offer: PayableOffer): Way
  /** Whether a well-formed offer lives long enough to be paid in the way this payer would pay it. */
  leavesTime(offer: unknown): Promise<boolean>
  /** Limits for one request alone. None unless the scheme came from `within`. */
  readonly bounds: Bounds
  /** The same payer with limits for one request. They hold for everything that is signed through it. */
  within(bounds: Bounds): PayerScheme
  /** Decides whether money may move. `deliverPayments` asks it for every host. */
  readonly guard: Guard
  readonly burns: Burns
  readonly limits: PayerLimits
  readonly clock: Clock
}

/** The parts that `createPayer` provides. A bare scheme has them only as long as the process lives. */
export type GuardParts = Pick<GuardPorts, 'totals' | 'audit' | 'approver'> & {
  /** Transactions of the account that all processes have signed. */
  readonly account: Cell<AccountState>
  /** The permit nonces that all processes hold for the account. */
  readonly permits: Cell<PermitLanes>
}

/**
 * Creates the payer for one account on one network. Make one and register it with every client: the memory
 * of payments and the order of permit nonces live in it.
 *
 * @example
 * const payer = createPayerScheme({
 *   account, rpcUrl, network: 'eip155:31337', allowedTokens: [token], maxAmountPerPayment: '1000000',
 * })
 * const client = withSpendControls(new x402Client(), [{ network: 'eip155:31337', asset: token }])
 * const pay = wrapFetchWithPayment(deliverPayments(fetch, payer), client.register('eip155:31337', payer))
 */
export function createPayerScheme(options: PayerOptions): PayerScheme {
  const config = readOptions(options)
  const totals = createTotals({ cell: createMemoryCell(), clock: config.clock })
  return createGuardedScheme(config, createPayerChain(config), {
    totals,
    audit: noAudit,
    approver: undefined,
    account: createMemoryCell(),
    permits: createMemoryCell(),
  })
}

/** The scheme with its guard. Everything that pays is made of it. */
export function createGuardedScheme(config: PayerConfig, chain: PayerChain, parts: GuardParts): PayerScheme {
  const { account, payer, mode, fallback, policy, memory, chainId, clock, limits } = config
  const { allowedHelpers } = policy
  const reconcile = createReconcile({ ...parts, memory, burnState: chain.burnState, clock })
  const inTokens = createInTokens(chain.tokenLabel)
  const helperTrust = createHelperTrust({ codeAt: chain.codeAt, chainId, allowedHelpers, limits })
  const guard = createGuard({
    ...{ ...parts, policy, payer, checkHelper: helperTrust, inTokens, reconcile, clock, limits },
    addressesOf: (hostname) => addressesOf(hostname, clock),
  })
  const nonces = createPermitNonces({ readFacts: chain.permitFacts, lanes: parts.permits, clock, limits })
  const deliveries = createDeliveries({ memory, nonces, guard, limits })
  const payByPermit = createPayByPermit(config, nonces, helperTrust, guard)
  const blockSeconds = createBlockSeconds({ readBlock: chain.readBlock, clock, limits })
  const secondsNeeded = async () => 2 * (await blockSeconds()) + limits.transferMarginSeconds
  const turns = createAccountTurns({ cell: parts.account, clock, limits })
  const payByTransfer = createSelfTransfer({
    ...{ signer: account, payer, signing: guard.signing, chain, turns, secondsNeeded, memory, clock, limits },
  })
  const wayOf = ({ helper }: PayableOffer): Way =>
    mode === 'self-transfer' || (fallback === 'self-transfer' && helper === undefined)
      ? 'self-transfer'
      : 'permit'
  const pay: Parameters<typeof createMakePayload>[0]['pay'] = (offer, permission, outrunNonce) =>
    wayOf(offer) === 'self-transfer'
      ? payByTransfer(offer, permission)
      : payByPermit(offer, permission, outrunNonce)
  const makePayload = createMakePayload({ pay, wayOf, guard, memory, deliveries })

  const burns = createBurns({ chain, payer, clock, limits })

  const within = (bounds: Bounds): PayerScheme => ({
    scheme: Offer.scheme,
    ...{ deliveries, guard, burns, wayOf, limits, clock, bounds, within },

    async leavesTime(raw) {
      const offer = readOffer(Offer.x402Version, raw)
      return isFresh(offer, unixSeconds(clock), wayOf(offer) === 'self-transfer' ? await secondsNeeded() : 0)
    },

    async createPaymentPayload(x402Version, paymentRequirements) {
      const payload = await makePayload(x402Version, paymentRequirements, bounds)
      return { x402Version, payload: { ...payload } }
    },

    schemeHooks: {
      /** The official fetch client sends again once when told `recovered`, and then asks for a payload anew. */
      async onPaymentResponse({ requirements, settleResponse, paymentRequired }) {
        const { challengeNonce } = readOffer(Offer.x402Version, requirements)
        // A `deliverPayments` beneath the client has seen the whole answer. This hook is told no status, and would take
        // an error with a receipt for a delivery.
        if ((await memory.get(challengeNonce))?.header !== undefined) return
        const outcome = judgeAnswer({ settleResponse, paymentRequired })
        const next = await deliveries.ended(challengeNonce, outcome, {
          transaction: settleResponse?.transaction,
        })
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
  { account, payer, clock, limits }: PayerConfig,
  nonces: PermitNonces,
  helperTrust: HelperTrust,
  { signing }: Pick<Guard, 'signing'>,
): Parameters<typeof createMakePayload>[0]['pay'] {
  return async (offer, permission, outrunNonce) => {
    if (permission === undefined) throw new PayerError('offer_changed', `challenge ${offer.challengeNonce}`)
    const payable = checkPermitOffer(offer, unixSeconds(clock), limits.signatureSecondsMax)
    await helperTrust(payable.helper)
    if (outrunNonce !== undefined) await nonces.moved(payable.token, outrunNonce)
    const facts = await nonces.hold(payable.token, payable.challengeNonce, payable.deadline)
    try {
      checkFresh(payable, unixSeconds(clock)) // the turn may have come late
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
