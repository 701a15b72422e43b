/** Presented payment → burn confirmed → accepted, answered with success exactly once. */
import {
  type FacilitatorApi,
  Network,
  Payload,
  type Rejection,
  reject,
  unreachable,
} from '@svc-zerc20/protocol'
import type { ClaimOutcome, Ledger, PayerRecord, Presented } from '../ledger-port.js'
import type { Deployment, SettleAnswer } from '../ports.js'
import type { Challenge, ClaimedPermit, Payment } from '../records.js'
import { acceptedEvent, type Report } from '../report.js'
import { createAnswerClaimed, knownHash } from './answer-claimed.js'
import type { Claims } from './claims.js'
import type { Examine } from './examine.js'
import { createRefusals } from './refusals.js'

/** `known` is what the ledger has of the payment. */
export type Settle = (presented: FacilitatorApi.PresentedPayment, known: Presented) => Promise<SettleAnswer>

export function createSettle(deps: {
  deployment: Deployment
  examine: Examine
  ledger: Ledger
  claims: Pick<Claims, 'claim' | 'start' | 'refuse' | 'watch' | 'isUnderWay'>
  report: Report
  receiptPollMs: number
}): Settle {
  const { examine, ledger, claims, report } = deps
  const network = Network.format(deps.deployment.chainId)
  const { refuse, refuseTransfer, refuseLate } = createRefusals({ network, examine, ledger, report })
  const answerClaimed = createAnswerClaimed({ ...deps, network, refuse })

  async function settlePermit(
    item: ClaimedPermit,
    ticketed: boolean,
    payer: PayerRecord | undefined,
  ): Promise<SettleAnswer> {
    const { challenge, payload } = item
    const examined = await examine.permit(challenge, payload, payer)
    if (!examined.ok) return refusePermit(examined, item, ticketed)
    const { verdict, means } = examined.value
    // A burn that happened needs no means.
    const outcome = await claims.claim(item, ticketed, verdict === 'burned' ? undefined : means)
    switch (outcome) {
      case 'claimed':
        claims.start(item, verdict)
        return answerClaimed(payload, ticketed)
      case 'same_payload': {
        // A run that broke off is taken up again. The replay ledger on chain keeps it to one execution.
        const { claim, accepted } = (await ledger.find(challenge.nonce)) ?? {}
        if (claim && !accepted) claims.start(item, verdict)
        return answerClaimed(payload, ticketed)
      }
      default:
        return refuse(refusalOf(outcome))
    }
  }

  async function settleSelfTransfer(
    challenge: Challenge,
    payload: Payload.SelfTransferPayload,
    ticketed: boolean,
  ): Promise<SettleAnswer> {
    const { nonce } = challenge
    const burn = await examine.selfTransfer(challenge, payload)
    const shallow = !burn.ok && burn.reason === 'pending_burn'
    if (!burn.ok && !shallow) return refuseTransfer(burn, payload)
    // The burn is claimed even while it lacks confirmations: presented in time, it may become deep enough
    // after expiry.
    const outcome = await ledger.claim(nonce, payload, ticketed)
    if (outcome !== 'claimed' && outcome !== 'same_payload')
      return refuse(refusalOf(outcome), payload.burnTxHash)
    if (!burn.ok) return refuse(burn, payload.burnTxHash)
    if ((await ledger.accept(nonce, burn.value)) === 'accepted') report(acceptedEvent(challenge, burn.value))
    return answerClaimed(payload, ticketed)
  }

  /** Refuses a payload that was judged not to burn. That judgement knows nothing of a transaction under way. */
  async function refusePermit(
    rejection: Rejection,
    item: ClaimedPermit,
    ticketed: boolean,
  ): Promise<SettleAnswer> {
    const payment = await ledger.find(item.challenge.nonce)
    const isClaimed = isClaimedBy(payment, item.payload)
    const isOver = !isClaimed || (!payment?.accepted && (await claims.refuse(item, rejection)) === 'refused')
    return isOver ? refuse(rejection, payment && knownHash(payment)) : answerClaimed(item.payload, ticketed)
  }

  async function refuseExpired(
    challenge: Challenge,
    payload: Payload.Payload,
    ticketed: boolean,
  ): Promise<SettleAnswer> {
    const refusal = await refuseLate(challenge, payload)
    // A request that came in time may have been held up, and have claimed it only now.
    const isClaimed = isClaimedBy(await ledger.find(challenge.nonce), payload)
    return isClaimed ? answerClaimed(payload, ticketed) : refusal
  }

  return async (presented, { payment, payer }) => {
    const { payload } = presented
    const state = examine.stateOf(presented, payment)
    if (state.kind === 'refused') return refuse(state.rejection, state.payment && knownHash(state.payment))
    const { ticketed } = state
    const { challenge } = state.payment
    if (state.kind === 'expired') return refuseExpired(challenge, payload, ticketed)
    const isUnderWay = payload.kind === 'permit' && claims.isUnderWay(challenge.nonce)
    if (state.kind === 'claimed' && (state.payment.accepted || isUnderWay))
      return answerClaimed(payload, ticketed)
    return payload.kind === 'permit'
      ? settlePermit({ challenge, payload }, ticketed, payer)
      : settleSelfTransfer(challenge, payload, ticketed)
  }
}

const isClaimedBy = (payment: Payment | undefined, payload: Payload.Payload): boolean =>
  payment?.claim?.identity === Payload.identity(payload)

/** Why a challenge was not claimed, in the words that callers are told. */
function refusalOf(outcome: Exclude<ClaimOutcome, 'claimed' | 'same_payload'>): Rejection {
  switch (outcome) {
    case 'other_payload':
      return reject('challenge_claimed')
    case 'permit_nonce_in_use':
      return reject('permit_nonce_in_use')
    case 'forgotten':
      return reject('challenge_expired')
    default:
      return typeof outcome === 'object' ? outcome : unreachable(outcome)
  }
}
