/**
 * Examines a presented payment for verify and settle, before anything is changed: the record, the
 * requirements, the facts, the verdict.
 */
import {
  accept,
  type Clock,
  type FacilitatorApi,
  Payload,
  type Rejection,
  type Result,
  reject,
} from '@svc-zerc20/protocol'
import type { Ledger, PayerRecord } from '../ledger-port.js'
import { phaseAt } from '../lifecycle.js'
import type { Chain, Deployment, PermitChainFacts, Signers, Tickets } from '../ports.js'
import type { Burn, Challenge, ClaimedPermit, OpenClaim, PayerMeans, Payment } from '../records.js'
import {
  judgePermit,
  judgePermitForm,
  judgeRequirements,
  judgeSelfTransfer,
  meansOf,
  type PermitVerdict,
} from './judge.js'

/** Where a presented payment stands in our own records, before the chain is asked. */
export type PresentedState =
  /** Not claimed and not expired: the payload has to be judged. */
  | { readonly kind: 'unclaimed'; readonly payment: Payment; readonly ticketed: boolean }
  /** This very payload is being burned or was accepted. Its ticket is no part of it. */
  | { readonly kind: 'claimed'; readonly payment: Payment; readonly ticketed: boolean }
  | { readonly kind: 'expired'; readonly payment: Payment; readonly ticketed: boolean }
  | { readonly kind: 'refused'; readonly rejection: Rejection; readonly payment?: Payment }

export type ExamineDeps = {
  readonly deployment: Deployment
  readonly ledger: Pick<Ledger, 'ofPayer'>
  readonly chain: Chain
  readonly signers: Signers
  readonly tickets: Tickets
  readonly clock: Clock
  readonly confirmations: number
  readonly miningSeconds: number
}

/** A good permit, and the means that it was judged by. Claiming it checks once more whether they suffice. */
export type ExaminedPermit = { readonly verdict: PermitVerdict; readonly means: PayerMeans }

export type Examine = {
  /** `payment` is the record of the challenge that the payload names, as it was found a moment ago. */
  stateOf(presented: FacilitatorApi.PresentedPayment, payment: Payment | undefined): PresentedState
  /** `payer` is what the ledger had of the payer a moment ago; otherwise it is asked. */
  permit(
    challenge: Challenge,
    payload: Payload.PermitPayload,
    payer?: PayerRecord,
  ): Promise<Result<ExaminedPermit>>
  /**
   * Whether no block holds the burn, and none to come can, unless a reorg goes deeper than the confirmations. `rejection` is
   * what its examination said a moment ago.
   */
  isLost(item: ClaimedPermit, rejection: Rejection): Promise<boolean>
  selfTransfer(challenge: Challenge, payload: Payload.SelfTransferPayload): Promise<Result<Burn>>
  /** The burn of a payload that nobody claimed in time. */
  lateBurn(challenge: Challenge, payload: Payload.Payload): Promise<Result<Burn>>
}

export function createExamine(deps: ExamineDeps): Examine {
  const { deployment, ledger, chain, signers, tickets, clock } = deps

  const examine: Examine = {
    stateOf(presented, payment) {
      const { payload, requirements, ticket } = presented
      if (!payment) return { kind: 'refused', rejection: reject('unknown_challenge') }
      const { challenge, claim } = payment
      const mismatch = requirements && judgeRequirements(requirements, challenge, deployment)
      if (mismatch) return { kind: 'refused', rejection: mismatch, payment }
      const ticketed = ticket !== undefined && tickets.matches(challenge.nonce, ticket)
      if (claim) {
        return claim.identity === Payload.identity(payload)
          ? { kind: 'claimed', payment, ticketed }
          : { kind: 'refused', rejection: reject('challenge_claimed'), payment }
      }
      const isExpired = phaseAt(payment, clock.now()) === 'expired'
      return { kind: isExpired ? 'expired' : 'unclaimed', payment, ticketed }
    },

    async permit(challenge, payload, payer) {
      const malformed = judgePermitForm(challenge, payload)
      if (malformed) return malformed
      const othersOf = ({ openClaims }: PayerRecord) =>
        openClaims.filter((claim) => claim.challenge.nonce !== challenge.nonce)
      const known = payer ?? (await ledger.ofPayer(payload.payer))
      // Both run together, so that the signers are found while the node answers.
      const [first, signedBy] = await Promise.all([
        chain.permitFacts(challenge, payload.payer),
        signers(challenge, payload),
      ])
      const judge = (
        facts: PermitChainFacts,
        openClaims: readonly OpenClaim[],
        executed: PayerMeans['executed'],
      ): Result<ExaminedPermit> => {
        const { waitMs } = known
        const all = {
          chain: facts,
          executed,
          ...signedBy,
          openClaims,
          waitMs,
          miningSeconds: deps.miningSeconds,
        }
        const verdict = judgePermit(challenge, payload, all)
        return verdict.ok ? accept({ verdict: verdict.value, means: meansOf(all) }) : verdict
      }
      const judged = judge(first, othersOf(known), new Set())
      if (judged.ok || judged.reason !== 'payer_must_wait' || known.waitMs > 0) return judged
      // A burn of an open claim may be in a block already without being accepted. And claims that were listed a while ago may
      // have ended.
      const openClaims = othersOf(await ledger.ofPayer(payload.payer))
      const [facts = first, ...others] = await chain.permitFactsTogether(
        [challenge, ...openClaims.map((claim) => claim.challenge)],
        payload.payer,
      )
      return judge(facts, openClaims, executedOf(openClaims, others))
    },

    isLost: createIsLost(deps),

    async selfTransfer(challenge, payload) {
      const facts = await chain.selfTransferFacts(payload.burnTxHash, challenge.payTo, deps.confirmations)
      return judgeSelfTransfer(challenge, payload.burnTxHash, facts, deps.confirmations)
    },

    lateBurn: createLateBurn(deps, {
      permit: (challenge, payload) => examine.permit(challenge, payload),
      selfTransfer: (challenge, payload) => examine.selfTransfer(challenge, payload),
    }),
  }
  return examine
}

function createLateBurn(
  deps: Pick<ExamineDeps, 'chain' | 'confirmations'>,
  examine: Pick<Examine, 'permit' | 'selfTransfer'>,
): Examine['lateBurn'] {
  const { chain } = deps
  return async (challenge, payload) => {
    if (payload.kind === 'self-transfer') return examine.selfTransfer(challenge, payload)
    const verdict = await examine.permit(challenge, payload)
    const isBurned = verdict.ok && verdict.value.verdict === 'burned'
    const burn = isBurned ? await chain.findExecutedBurn(challenge, payload.payer) : undefined
    // The follower finds a burn that a reorg may still take, once it is deep enough.
    const isDeep = burn && chain.headNumber() - burn.blockNumber + 1n >= BigInt(deps.confirmations)
    return isDeep ? accept(burn) : reject('burn_not_found')
  }
}

function createIsLost({
  chain,
  confirmations,
}: Pick<ExamineDeps, 'chain' | 'confirmations'>): Examine['isLost'] {
  return async ({ challenge, payload }, { reason }) => {
    const { deadline } = challenge
    if (reason !== 'deadline_passed' || deadline === undefined) return false
    const deepTime = await chain.blockTime((await chain.readHead()) - BigInt(confirmations))
    if (deepTime === undefined || deepTime <= deadline) return false
    // Only what is seen after that counts: a reorg may have brought the burn since it was examined.
    const { executed, timestamp } = await chain.permitFacts(challenge, payload.payer)
    return !executed && timestamp > deadline
  }
}

const executedOf = (claims: readonly OpenClaim[], facts: readonly PermitChainFacts[]) =>
  new Set(claims.filter((_, i) => facts[i]?.executed).map(({ challenge }) => challenge.nonce))
