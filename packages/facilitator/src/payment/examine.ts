/**
 * What verify and settle ask of a presented payment before anything is changed: the record, the
 * requirements, the facts, the verdict.
 */
import { type FacilitatorApi, Payload, type Rejection, type Result, reject } from '@svc-zerc20/protocol'
import {
  judgePermit,
  judgePermitForm,
  judgeRequirements,
  judgeSelfTransfer,
  type PermitVerdict,
} from './judge.js'
import { stateAt } from './lifecycle.js'
import type { Burn, Chain, Challenge, Clock, Deployment, Ledger, Payment, Signers } from './ports.js'

/** Where a presented payment stands in our own records, before the chain is asked. */
export type Standing =
  /** Not claimed and not expired: the payload has to be judged. */
  | { readonly kind: 'unclaimed'; readonly payment: Payment }
  /** This very payload is being burned or was accepted. */
  | { readonly kind: 'claimed'; readonly payment: Payment }
  | { readonly kind: 'expired'; readonly payment: Payment }
  | { readonly kind: 'refused'; readonly rejection: Rejection; readonly payment?: Payment }

export type ExamineDeps = {
  readonly deployment: Deployment
  readonly ledger: Pick<Ledger, 'find'>
  readonly chain: Chain
  readonly signers: Signers
  readonly clock: Clock
  readonly confirmations: number
}

export type Examine = {
  standing(presented: FacilitatorApi.PresentedPayment): Promise<Standing>
  permit(challenge: Challenge, payload: Payload.PermitPayload): Promise<Result<PermitVerdict>>
  selfTransfer(challenge: Challenge, payload: Payload.SelfTransferPayload): Promise<Result<Burn>>
}

export function createExamine(deps: ExamineDeps): Examine {
  const { deployment, ledger, chain, signers, clock } = deps
  return {
    async standing({ payload, requirements }) {
      const payment = await ledger.find(payload.challengeNonce)
      if (!payment) return { kind: 'refused', rejection: reject('unknown_challenge') }
      const { challenge, claim } = payment
      const mismatch = requirements && judgeRequirements(requirements, challenge, deployment)
      if (mismatch) return { kind: 'refused', rejection: mismatch, payment }
      if (claim) {
        return claim.identity === Payload.identity(payload)
          ? { kind: 'claimed', payment }
          : { kind: 'refused', rejection: reject('challenge_claimed'), payment }
      }
      const expired = stateAt(payment, clock.now()) === 'expired'
      return { kind: expired ? 'expired' : 'unclaimed', payment }
    },

    async permit(challenge, payload) {
      const malformed = judgePermitForm(challenge, payload)
      if (malformed) return malformed
      // Together, so that the signers are recovered while the node answers.
      const [facts, permitSigner, burnAuthorizationSigner] = await Promise.all([
        chain.permitFacts(challenge, payload.payer),
        signers.recoverPermit(payload),
        signers.recoverBurnAuthorization(challenge, payload),
      ])
      return judgePermit(challenge, payload, { chain: facts, permitSigner, burnAuthorizationSigner })
    },

    async selfTransfer(challenge, payload) {
      const facts = await chain.selfTransferFacts(payload.burnTxHash, challenge.payTo)
      return judgeSelfTransfer(challenge, payload.burnTxHash, facts, deps.confirmations)
    },
  }
}
