/** Presented payment → burn confirmed → accepted, answered with success exactly once. */
import {
  type ChallengeNonce,
  type FacilitatorApi,
  Network,
  type Payload,
  type Rejection,
  reject,
  SvcError,
  type TxHash,
  unreachable,
} from '@svc-zerc20/protocol'
import type { Ledger } from '../ledger-port.js'
import type { Deployment, SettleAnswer } from '../ports.js'
import type { Challenge, PayerMeans, Payment } from '../records.js'
import type { Report } from '../report.js'
import type { Burns } from './burns.js'
import type { Examine } from './examine.js'
import { createRefusals } from './refusals.js'

/** `payment` is what the ledger holds of the challenge that is paid; absent when it knows none. */
export type Settle = (
  presented: FacilitatorApi.PresentedPayment,
  payment: Payment | undefined,
) => Promise<SettleAnswer>

export function createSettle(deps: {
  deployment: Deployment
  examine: Examine
  ledger: Ledger
  burns: Burns
  report: Report
  receiptPollMs: number
}): Settle {
  const { examine, ledger, burns, report } = deps
  const network = Network.format(deps.deployment.chainId)
  const { refuse, refuseTransfer, refuseLate } = createRefusals({ network, examine, ledger, report })

  return async (presented, payment) => {
    const { payload } = presented
    const standing = examine.standing(presented, payment)
    switch (standing.kind) {
      case 'refused':
        return refuse(standing.rejection, standing.payment && knownHash(standing.payment))
      case 'expired':
        return refuseLate(standing.payment.challenge, payload)
      case 'claimed':
        return standing.payment.accepted || burns.isUnderWay(payload.challengeNonce)
          ? answerClaimed(payload)
          : settleNow(standing.payment.challenge, payload, standing.ticketed)
      case 'unclaimed':
        return settleNow(standing.payment.challenge, payload, standing.ticketed)
      default:
        return unreachable(standing)
    }
  }

  function settleNow(
    challenge: Challenge,
    payload: Payload.Payload,
    ticketed: boolean,
  ): Promise<SettleAnswer> {
    return payload.kind === 'permit'
      ? settlePermit(challenge, payload, ticketed)
      : settleSelfTransfer(challenge, payload, ticketed)
  }

  async function settlePermit(
    challenge: Challenge,
    payload: Payload.PermitPayload,
    ticketed: boolean,
  ): Promise<SettleAnswer> {
    const examined = await examine.permit(challenge, payload)
    if (!examined.ok) return refuse(examined, await hashOf(challenge.nonce))
    const { verdict, means } = examined.value
    // A burn that happened needs no means any more.
    const refused = await claim(
      ledger,
      challenge.nonce,
      payload,
      ticketed,
      verdict === 'burned' ? undefined : means,
    )
    if (refused !== undefined && refused !== 'same_payload') return refuse(refused)
    // Also when it was claimed before: a run that broke off is taken up again, and the replay ledger on chain
    // keeps it to one execution.
    if (refused === undefined || (await isAwaited(challenge.nonce))) burns.start(challenge, payload, verdict)
    return answerClaimed(payload)
  }

  async function settleSelfTransfer(
    challenge: Challenge,
    payload: Payload.SelfTransferPayload,
    ticketed: boolean,
  ): Promise<SettleAnswer> {
    const burn = await examine.selfTransfer(challenge, payload)
    const shallow = !burn.ok && burn.reason === 'pending_burn'
    if (!burn.ok && !shallow) return refuseTransfer(burn, payload)
    // Claimed also while it lacks confirmations: presented in time, it may become deep enough after expiry.
    const refused = await claim(ledger, challenge.nonce, payload, ticketed)
    if (refused !== undefined && refused !== 'same_payload') return refuse(refused, payload.burnTxHash)
    if (!burn.ok) return refuse(burn, payload.burnTxHash)
    if ((await ledger.accept(challenge.nonce, burn.value)) === 'accepted') {
      report({ event: 'payment.accepted', challengeNonce: challenge.nonce, txHash: burn.value.txHash })
    }
    return answerClaimed(payload)
  }

  /** Waits for the burn of this payload up to the bound, then says how it ended. */
  async function answerClaimed(payload: Payload.Payload): Promise<SettleAnswer> {
    const { challengeNonce } = payload
    const end = await burns.watch(challengeNonce, deps.receiptPollMs)
    if (typeof end === 'object' && end.kind === 'failed') return refuse(end.rejection, end.txHash)
    const grant = await ledger.takeGrant(challengeNonce, deps.receiptPollMs)
    if (typeof grant === 'string') return refuseGrant(challengeNonce, grant)
    const transaction = grant.accepted.burn.txHash
    const payer = payload.kind === 'permit' ? { payer: payload.payer } : {}
    return {
      response: { success: true, transaction, network, ...payer, extra: { phase: 'accepted' } },
      grant,
    }
  }

  async function refuseGrant(
    nonce: ChallengeNonce,
    why: 'used' | 'held' | 'not_accepted',
  ): Promise<SettleAnswer> {
    const payment = await ledger.find(nonce)
    if (!payment) throw new SvcError('payment_lost', `claimed payment ${nonce} left the ledger`)
    // `held`: somebody does not read the answer, and the bound of a settle holds all the same.
    return payment.accepted && why === 'used'
      ? refuse(reject('already_accepted'), knownHash(payment), { phase: 'accepted' })
      : refuse(reject('pending_burn'), knownHash(payment))
  }

  async function isAwaited(nonce: ChallengeNonce): Promise<boolean> {
    const payment = await ledger.find(nonce)
    return payment?.claim !== undefined && !payment.accepted
  }

  async function hashOf(nonce: ChallengeNonce): Promise<TxHash | undefined> {
    const payment = await ledger.find(nonce)
    return payment && knownHash(payment)
  }
}

function knownHash({ accepted, claim }: Payment): TxHash | undefined {
  return accepted?.burn.txHash ?? claim?.txHash
}

async function claim(
  ledger: Pick<Ledger, 'claim'>,
  nonce: ChallengeNonce,
  payload: Payload.Payload,
  ticketed: boolean,
  means?: PayerMeans,
): Promise<Rejection | 'same_payload' | undefined> {
  const outcome = await ledger.claim(nonce, payload, ticketed, means)
  if (typeof outcome === 'object') return outcome
  switch (outcome) {
    case 'claimed':
      return undefined
    case 'same_payload':
      return 'same_payload'
    case 'other_payload':
      return reject('challenge_claimed')
    case 'permit_nonce_in_use':
      return reject('permit_nonce_in_use')
    case 'forgotten':
      return reject('challenge_expired')
    default:
      return unreachable(outcome)
  }
}
