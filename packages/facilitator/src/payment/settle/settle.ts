/** Presented payment → burn confirmed → accepted, answered with success exactly once. */
import {
  type Address,
  type ChallengeNonce,
  type FacilitatorApi,
  Network,
  Payload,
  type Rejection,
  reject,
  unreachable,
} from '@svc-zerc20/protocol'
import type { Ledger, PayerRecord, Presented } from '../ledger-port.js'
import type { Deployment, SettleAnswer } from '../ports.js'
import {
  type Challenge,
  type ClaimedPermit,
  isForOtherSender,
  type PayerMeans,
  type Payment,
} from '../records.js'
import { acceptedEvent, type Report } from '../report.js'
import { type AnswerClaimed, createAnswerClaimed, knownHash } from './answer-claimed.js'
import type { Examine } from './examine.js'
import { createRefusals, type Refuse } from './refusals.js'
import type { SettleBurns } from './shared-burns.js'

/** `known` is what the ledger has of the payment. */
export type Settle = (presented: FacilitatorApi.PresentedPayment, known: Presented) => Promise<SettleAnswer>

export function createSettle(deps: {
  deployment: Deployment
  examine: Examine
  ledger: Ledger
  burns: SettleBurns
  report: Report
  receiptPollMs: number
  /** The account that is to burn what is claimed here, where several send. */
  sender?: Address | undefined
}): Settle {
  const { examine, ledger, burns, report } = deps
  const network = Network.format(deps.deployment.chainId)
  const { refuse, refuseTransfer, refuseLate } = createRefusals({ network, examine, ledger, report })
  const answerClaimed = createAnswerClaimed({ ...deps, network, refuse })

  const isUnderWay = ({ kind, challengeNonce }: Payload.Payload) =>
    kind === 'permit' && burns.isUnderWay(challengeNonce)

  /** Another account sends the burn, from another daemon. */
  const isSentElsewhere = ({ claim }: Payment) => isForOtherSender(claim, deps.sender)
  const unclaimed = createRefuseUnclaimed({ ledger, examine, burns, refuse, answerClaimed, isSentElsewhere })

  async function settlePermit(
    challenge: Challenge,
    payload: Payload.PermitPayload,
    ticketed: boolean,
    payer: PayerRecord | undefined,
  ): Promise<SettleAnswer> {
    const { nonce } = challenge
    const examined = await examine.permit(challenge, payload, payer)
    if (!examined.ok) return unclaimed.refusePermit(examined, { challenge, payload }, ticketed)
    const { verdict, means } = examined.value
    // A burn that happened needs no means.
    const needed = verdict === 'burned' ? undefined : means
    const refused = await claim(ledger, nonce, payload, ticketed, needed, deps.sender)
    if (refused !== undefined && refused !== 'same_payload') return refuse(refused)
    if (refused === undefined) {
      burns.start({ challenge, payload }, verdict)
      return answerClaimed(payload, { ticketed })
    }
    // Claimed before. A run that broke off is taken up again, by the account that sends it; what is burned already needs
    // none. The replay ledger on chain keeps it to one execution.
    const claimed = await ledger.find(nonce)
    const isElsewhere = claimed !== undefined && isSentElsewhere(claimed)
    if (isAwaited(claimed) && (!isElsewhere || verdict === 'burned')) {
      burns.start({ challenge, payload }, verdict)
    }
    return answerClaimed(payload, { ticketed, isElsewhere })
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
    const refused = await claim(ledger, nonce, payload, ticketed)
    if (refused !== undefined && refused !== 'same_payload') return refuse(refused, payload.burnTxHash)
    if (!burn.ok) return refuse(burn, payload.burnTxHash)
    const { outcome, hold } = await ledger.acceptAwaited(nonce, burn.value)
    if (outcome === 'accepted') report(acceptedEvent(challenge, burn.value))
    return answerClaimed(payload, { ticketed, ended: { kind: 'accepted', hold } })
  }

  return async (presented, { payment, payer }) => {
    const { payload } = presented
    const state = examine.stateOf(presented, payment)
    switch (state.kind) {
      case 'refused':
        return refuse(state.rejection, state.payment && knownHash(state.payment))
      case 'expired':
        return unclaimed.refuseExpired(
          await refuseLate(state.payment.challenge, payload),
          payload,
          state.ticketed,
        )
      case 'claimed':
        if (state.payment.accepted || isUnderWay(payload)) return answerClaimed(payload, state)
        break
      case 'unclaimed':
        break
      default:
        return unreachable(state)
    }
    const { ticketed } = state
    const { challenge } = state.payment
    return payload.kind === 'permit'
      ? settlePermit(challenge, payload, ticketed, payer)
      : settleSelfTransfer(challenge, payload, ticketed)
  }
}

/** Refuses a payload, unless it turns out to be claimed: then the claim is answered. */
function createRefuseUnclaimed(deps: {
  readonly ledger: Pick<Ledger, 'find'>
  readonly examine: Pick<Examine, 'isLost'>
  readonly burns: Pick<SettleBurns, 'refuse'>
  readonly refuse: Refuse
  readonly answerClaimed: AnswerClaimed
  readonly isSentElsewhere: (payment: Payment) => boolean
}) {
  const { ledger, examine, burns, refuse, answerClaimed, isSentElsewhere } = deps
  const claimedBy = (payload: Payload.Payload, payment: Payment | undefined) =>
    payment?.claim?.identity === Payload.identity(payload) ? payment : undefined
  return {
    /** Refuses a payload that was judged not to burn. That judgement knows nothing of a transaction under way. */
    async refusePermit(rejection: Rejection, item: ClaimedPermit, ticketed: boolean): Promise<SettleAnswer> {
      const { payload } = item
      const payment = await ledger.find(payload.challengeNonce)
      const claimed = claimedBy(payload, payment)
      if (!claimed) return refuse(rejection, payment && knownHash(payment))
      if (claimed.accepted) return answerClaimed(payload, { ticketed, isElsewhere: true })
      const outcome = isSentElsewhere(claimed) ? 'elsewhere' : await burns.refuse(item, rejection)
      const isElsewhere = outcome === 'elsewhere'
      // Whoever sends a burn that is lost: there is nothing to wait for.
      const isOver = isElsewhere ? await examine.isLost(item, rejection) : outcome === 'refused'
      return isOver
        ? refuse(rejection, knownHash(claimed))
        : answerClaimed(payload, { ticketed, isElsewhere })
    },

    /** It came too late. A request that came in time may have been held up, and have claimed it only now. */
    async refuseExpired(
      refusal: SettleAnswer,
      payload: Payload.Payload,
      ticketed: boolean,
    ): Promise<SettleAnswer> {
      const payment = await ledger.find(payload.challengeNonce)
      return claimedBy(payload, payment) ? answerClaimed(payload, { ticketed, isElsewhere: true }) : refusal
    },
  }
}

const isAwaited = (payment: Payment | undefined): boolean => payment?.claim !== undefined && !payment.accepted

/**
 * Claims a challenge for a payload. A refusal is in the words that callers are told. Undefined when the challenge is
 * claimed; `same_payload` when this very payload had claimed it before.
 */
async function claim(
  ledger: Pick<Ledger, 'claim'>,
  challengeNonce: ChallengeNonce,
  payload: Payload.Payload,
  ticketed: boolean,
  means?: PayerMeans,
  sender?: Address,
): Promise<Rejection | 'same_payload' | undefined> {
  const outcome = await ledger.claim(challengeNonce, payload, ticketed, means, sender)
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
