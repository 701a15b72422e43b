/** Events that the payment flow tells the operator. */
import { type EventIn, error, field, info, optional, warn } from './event-table.js'
import type { Burn, Challenge } from './records.js'

const challengeNonce = field<string>('names the payment')
const txHash = field<string>('the burn transaction')
const reason = field<string>('a code of the table of reasons')
const why = field<string>('what kind of failure')
const err = field<unknown>('the error, with its causes')
/** No event of a sweep or a mint names a payment: the log must not tell which of them are finalized. */
const sweptFees = {
  payments: field<number>('payments whose fees are in it'),
  amount: field<bigint>('their sum in base units'),
}
const sweep = { txHash: field<string>('the transfer'), ...sweptFees }

export const flowEvents = {
  'issuance.paused': warn('An operator paused new challenges.'),
  'issuance.resumed': info('An operator let new challenges be issued again.'),
  'challenge.issued': info('A challenge was issued.', {
    challengeNonce,
    amount: field<bigint>('the quoted amount in base units'),
  }),
  'payment.accepted': info('The burn is confirmed and recorded: the resource may be served.', {
    challengeNonce,
    txHash,
    amount: field<bigint>('the amount in base units'),
    fee: optional<bigint>('base units of the amount that are the fee; absent without one'),
  }),
  'burn.broadcast': info(
    'A relayed burn is in a signed transaction. Written again for each replacement at a higher gas price.',
    { challengeNonce, txHash },
  ),
  'burn.resumed': info('A burn that the last run left unfinished is resumed.', { challengeNonce }),
  'burn.failed': warn('A relayed burn did not execute. No tokens moved, and the challenge is open again.', {
    challengeNonce,
    reason,
  }),
  'burn.interrupted': error('The outcome of a burn is unknown. The daemon takes it up again by itself.', {
    challengeNonce,
    err,
  }),
  'burn.unmatched': warn(
    'A transfer to a burn address does not cover its amount alone: it is too small, or one of several parts.',
    { challengeNonce, txHash, reason },
  ),
  'burn.late': warn('A burn came after its challenge expired. It buys nothing and is still minted.', {
    challengeNonce,
    txHash,
  }),
  'burn.found': warn(
    'A burn was found on the chain that was not late and still buys nothing. It is minted if a single proof can ' +
      'do so.',
    {
      challengeNonce,
      txHash,
      value: field<bigint>('base units of the transfer'),
      reason: field<string>('unpresented, second, split, underpaid or unrecorded'),
    },
  ),
  'burn.reorged': error(
    'A reorg removed the burn of an accepted payment, which may have been served. A relayed burn is sent again, ' +
      'and nothing is minted until a block holds it.',
    { challengeNonce },
  ),
  'burn.lost': error(
    'A burn that a reorg removed cannot be executed any more. Its payment stays without a burn: the resource that it ' +
      'bought was not paid for.',
    { challengeNonce, reason },
  ),
  'payment.returned': warn(
    'A block holds the burn of a demoted payment again. The payment is accepted again and will be minted.',
    { challengeNonce, txHash },
  ),
  'finalize.on': info('This daemon mints accepted payments.', {
    artifacts: field<string>('the folder of the proving keys'),
  }),
  'finalize.off': warn('This daemon mints nothing. Accepted payments wait.', {
    reason: field<string>('why'),
  }),
  'finalize.waiting': warn('Payments wait for something that this daemon cannot fix.', {
    reason: field<string>('what they wait for'),
    payments: field<number>('how many'),
    seconds: field<number>('how long the first has waited'),
  }),
  'finalize.failed': warn('A round of finalization could not read the chain. The next one comes later.', {
    err,
  }),
  'mint.proving': info('The proof of a mint is being computed.', {
    leaves: field<bigint>('transfers under the root of the proof'),
    company: field<number>(
      'waiting burns of this amount, this one included: the mint could belong to any of them',
    ),
  }),
  'mint.proved': info('The proof of a mint is ready. The mint is sent.', {
    ms: field<number>('milliseconds the path and the proof took'),
  }),
  'mint.mined': info('A mint is in a block. The payment is finalized when that block is deep enough.'),
  'mint.failed': warn('A mint failed. It is tried again with growing pauses.', {
    reason: why,
    err,
  }),
  'mint.resumed': info('A mint that the last run left unfinished is resumed.'),
  'batch.proving': info('The proof of a batch mint is being computed.', {
    payments: field<number>('payments that are minted together, as one sum'),
    others: field<number>(
      'other transfers in that sum: payments that are counted again, and transfers beside a payment',
    ),
    payers: field<number>('accounts that paid them: one alone is hidden by nobody'),
    crowd: field<bigint>('transfers of the token among which the proof hides them'),
  }),
  'batch.proved': info('The proof of a batch mint is ready. The mint is sent.', {
    payments: field<number>('payments that are minted together'),
    ms: field<number>('milliseconds the paths and the proof took'),
  }),
  'batch.failed': warn('A batch mint failed. It is tried again with growing pauses.', {
    payments: field<number>('payments that wait for it'),
    reason: why,
    err,
  }),
  'batch.foreign': error(
    'Another account counts burns of our epoch, so that another facilitator runs with this ledger id: perhaps a ' +
      'copy of the ledger. The larger of two sums is minted and the smaller one is lost. Stop one of them.',
    {
      epoch: field<number>('the second at which the epoch began'),
      value: field<bigint>('base units beyond our burns, or what the other account came to'),
      submitter: optional<string>('the other account, where a count of it was found'),
    },
  ),
  'payment.finalized': info('The provider has the money: the mint is finalize.confirmations blocks deep.'),
  'fees.sweep_signed': info('The transfer of a sweep is signed and in the ledger. It is sent now.', sweep),
  'fees.sweep_resumed': info(
    'A sweep that had not ended is taken up again: the same bytes are sent.',
    sweptFees,
  ),
  'fees.swept': info('A sweep is finalize.confirmations blocks deep: its recipient has the fees.', sweep),
  'fees.transfer_found': warn(
    'The treasury had sent tokens to the recipient of fees, by hand or by a sweep that the ledger does not know. ' +
      'The transfer counts as a sweep of the oldest fees, so that none is paid twice.',
    sweep,
  ),
  'fees.sweep_failed': warn('Fees could not be swept. They stay due, and the next attempt comes later.', {
    reason: why,
    message: field<string>('what is wrong and what helps'),
    err,
  }),
  'fees.distributed': info('The balance of the splitter was distributed to provider and fee recipient.', {
    txHash: field<string>('the transaction'),
    amount: field<bigint>('the balance in base units, as seen before'),
  }),
  'fees.distribute_failed': warn(
    'The balance of the splitter could not be distributed. Nothing is lost, and the next attempt comes later.',
    { err },
  ),
}

export type FlowEvent = EventIn<typeof flowEvents>

/** Tells the operator; never throws and never carries secrets or bodies. */
export type Report = (event: FlowEvent) => void

export const acceptedEvent = ({ nonce, amount, fee }: Challenge, { txHash }: Burn): FlowEvent => ({
  event: 'payment.accepted',
  challengeNonce: nonce,
  txHash,
  amount,
  ...(fee && { fee: fee.amount }),
})
