/** Judges a payment as it stands this moment, and changes nothing. */
import { type FacilitatorApi, type Rejection, reject, unreachable } from '@svc-zerc20/protocol'
import type { Ledger } from '../ledger-port.js'
import type { Examine } from './examine.js'

export type Verify = (presented: FacilitatorApi.PresentedPayment) => Promise<FacilitatorApi.VerifyResponse>

export function createVerify(deps: { examine: Examine; ledger: Pick<Ledger, 'grantIsUsed'> }): Verify {
  return async (presented) => {
    const rejection = await judge(presented)
    const payer = presented.payload.kind === 'permit' ? { payer: presented.payload.payer } : {}
    return rejection ? { ...toInvalid(rejection), ...payer } : { isValid: true, ...payer }
  }

  async function judge(presented: FacilitatorApi.PresentedPayment): Promise<Rejection | undefined> {
    const { examine, ledger } = deps
    const standing = await examine.standing(presented)
    switch (standing.kind) {
      case 'refused':
        return standing.rejection
      case 'expired':
        return reject('challenge_expired')
      case 'claimed':
        // Under way or accepted: the re-sent payload is good as long as nobody was served for it.
        return (await ledger.grantIsUsed(presented.payload.challengeNonce))
          ? reject('already_accepted')
          : undefined
      case 'unclaimed': {
        const { challenge } = standing.payment
        const { payload } = presented
        const verdict =
          payload.kind === 'permit'
            ? await examine.permit(challenge, payload)
            : await examine.selfTransfer(challenge, payload)
        // A good burn that lacks blocks: settle claims it now, so that it stays good when it gets them after expiry.
        return verdict.ok || verdict.reason === 'pending_burn' ? undefined : verdict
      }
      default:
        return unreachable(standing)
    }
  }
}

function toInvalid({ reason, message }: Rejection): FacilitatorApi.VerifyResponse {
  return { isValid: false, invalidReason: reason, invalidMessage: message }
}
