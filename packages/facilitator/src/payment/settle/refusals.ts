/** Settle answers without success, and records of money that bought nothing. */
import {
  type FacilitatorApi,
  type Network,
  type Payload,
  type Rejection,
  reject,
  type TxHash,
} from '@svc-zerc20/protocol'
import { recordFound } from '../found/found-burn.js'
import type { Ledger } from '../ledger-port.js'
import type { SettleAnswer } from '../ports.js'
import type { Challenge } from '../records.js'
import type { Report } from '../report.js'
import type { Examine } from './examine.js'

export type Refuse = (
  rejection: Rejection,
  txHash?: TxHash,
  extra?: FacilitatorApi.SettleResponse['extra'],
) => SettleAnswer

export function createRefusals(deps: {
  network: Network.Network
  examine: Pick<Examine, 'lateBurn'>
  ledger: Pick<Ledger, 'recordUnmatched' | 'recordLate'>
  report: Report
}) {
  const { network, ledger, report } = deps

  const refuse: Refuse = ({ reason, message }, txHash, extra) => ({
    response: {
      success: false,
      errorReason: reason,
      errorMessage: message,
      transaction: txHash ?? '',
      network,
      ...(extra && { extra }),
    },
  })

  return {
    refuse,

    /** Tells the operator of transfers that cover nothing, because their money is at payTo all the same. */
    async refuseTransfer(rejection: Rejection, payload: Payload.SelfTransferPayload): Promise<SettleAnswer> {
      const { challengeNonce, burnTxHash: txHash } = payload
      const { reason } = rejection
      if (reason === 'burn_split' || reason === 'burn_underpaid') {
        const outcome = await ledger.recordUnmatched(challengeNonce, { txHash, reason })
        // A known transfer is in the log already.
        if (outcome !== 'known') report({ event: 'burn.unmatched', challengeNonce, txHash, reason })
      }
      return refuse(rejection, hashIfOnChain(rejection, payload))
    },

    /** Refuses a payment past its expiry. A burn that did happen is recorded, so that it is still minted. */
    async refuseLate(challenge: Challenge, payload: Payload.Payload): Promise<SettleAnswer> {
      const burn = await deps.examine.lateBurn(challenge, payload)
      if (!burn.ok) {
        const txHash = payload.kind === 'permit' ? undefined : hashIfOnChain(burn, payload)
        return refuse(reject('challenge_expired'), txHash)
      }
      await recordFound(deps, challenge, burn.value, 'late')
      return refuse(reject('challenge_expired'), burn.value.txHash)
    },
  }
}

/** The payer's own hash is repeated only when the chain knows it. */
function hashIfOnChain(
  { reason }: Rejection,
  { burnTxHash }: Payload.SelfTransferPayload,
): TxHash | undefined {
  return reason === 'burn_not_found' ? undefined : burnTxHash
}
