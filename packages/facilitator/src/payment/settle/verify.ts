/** Judges a payment as it stands now, and changes nothing. */
import { type FacilitatorApi, type Rejection, reject, unreachable } from '@svc-zerc20/protocol'
import type { Presented } from '../ledger-port.js'
import type { Examine } from './examine.js'

/** `known` is what the ledger has of the payment. */
export type Verify = (
  presented: FacilitatorApi.PresentedPayment,
  known: Presented,
) => Promise<FacilitatorApi.VerifyResponse>

export function createVerify({ examine }: { examine: Examine }): Verify {
  return async (presented, known) => {
    const rejection = await judge(presented, known)
    const payer = presented.payload.kind === 'permit' ? { payer: presented.payload.payer } : {}
    return rejection ? { ...toInvalid(rejection), ...payer } : { isValid: true, ...payer }
  }

  async function judge(
    ...[presented, { payment, payer }]: Parameters<Verify>
  ): Promise<Rejection | undefined> {
    const state = examine.stateOf(presented, payment)
    switch (state.kind) {
      case 'refused':
        return state.rejection
      case 'expired':
        return reject('challenge_expired')
      case 'claimed':
        // Under way or accepted: the re-sent payload is good as long as nobody was served for it.
        return state.payment.granted ? reject('already_accepted') : undefined
      case 'unclaimed': {
        const { challenge } = state.payment
        const { payload } = presented
        const verdict =
          payload.kind === 'permit'
            ? await examine.permit(challenge, payload, payer)
            : await examine.selfTransfer(challenge, payload)
        // A good burn that lacks blocks counts as valid: settle claims it now, so that it stays good if it
        // gets them after expiry.
        return verdict.ok || verdict.reason === 'pending_burn' ? undefined : verdict
      }
      default:
        return unreachable(state)
    }
  }
}

function toInvalid({ reason, message }: Rejection): FacilitatorApi.VerifyResponse {
  return { isValid: false, invalidReason: reason, invalidMessage: message }
}
