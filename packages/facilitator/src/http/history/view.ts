/** A payment that a participant may see, as JSON. Nothing is hidden here: that was done before. */
import { toChecksum } from '@svc-zerc20/protocol'
import type { Sum } from '../../history/questions.js'
import type { SeenBurn, SeenMint, SeenPayment, SeenTotals } from '../../history/scopes.js'
import { checksummed } from './checksum.js'

export function viewPayment(seen: SeenPayment) {
  const { fee, payer, payTo, treasury, accepted, late, unmatched, disclosedAt } = seen
  return {
    challengeNonce: seen.challengeNonce,
    phase: seen.phase,
    amount: `${seen.amount}`,
    listPrice: `${seen.listPrice}`,
    ...(fee && { fee: { ...fee, amount: `${fee.amount}` } }),
    issuedAt: seen.issuedAt,
    expiresAt: seen.expiresAt,
    ...(payer !== undefined && { payer: checksummed(payer) }),
    ...(payTo !== undefined && { payTo: toChecksum(payTo) }),
    ...(treasury !== undefined && { treasury: checksummed(treasury) }),
    ...(accepted && { accepted: viewBurn(accepted) }),
    ...viewMint(seen.finalized),
    ...(late && { late: { ...viewBurn(late), reason: late.reason, ...viewMint(late.finalized) } }),
    ...(unmatched.length > 0 && { unmatched }),
    ...(disclosedAt !== undefined && { disclosedAt }),
  }
}

const viewBurn = ({ at, value, burn }: SeenBurn) => ({
  at,
  value: `${value}`,
  ...(burn && {
    burn: { transaction: burn.txHash, block: `${burn.blockNumber}`, leafIndex: `${burn.leafIndex}` },
  }),
})

function viewMint(seen: SeenMint | undefined) {
  if (!seen) return undefined
  const { on, at, mint } = seen
  return {
    finalizedOn: on,
    ...(at !== undefined && { finalizedAt: at }),
    ...(mint && {
      mint: {
        ...(mint.txHash !== undefined && { transaction: mint.txHash }),
        ...(mint.blockNumber !== undefined && { block: `${mint.blockNumber}` }),
        value: `${mint.value}`,
      },
    }),
  }
}

export function viewTotals({ accepted, late, fees, finalized }: SeenTotals) {
  return {
    accepted: viewSum(accepted),
    late: viewSum(late),
    ...(fees && { fees: viewSum(fees) }),
    ...(finalized && { finalized: viewSum(finalized) }),
  }
}

const viewSum = ({ payments, amount }: Sum) => ({ payments, amount: `${amount}` })
