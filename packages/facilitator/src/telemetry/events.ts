/** Every log event and its fields. None contains a secret or a body. */
import type { DeciderEvent } from '@svc-zerc20/prover/decider-client'
import type { FinalizeEvent } from '../payment/finalize/ports.js'
import type { PaymentEvent } from '../payment/report.js'
import type { SweepEvent } from '../payment/sweep/ports.js'
import type { FollowEvent, PathEvent, RelayerEvent } from './reports.js'

export type LifecycleEvent =
  | {
      readonly event: 'facilitator.listening' | 'facilitator.ready'
      readonly url: string
      readonly network: string
      readonly profile: string
      readonly ledgerId: string
    }
  /** `svc-facilitator decide` listens. */
  | { readonly event: 'decider.ready'; readonly url: string }
  | { readonly event: 'facilitator.warning'; readonly message: string }
  /** The daemon does not start. */
  | {
      readonly event: 'facilitator.failed'
      /** The configuration key that the problem is about, if there is one. */
      readonly key?: string
      readonly code: string
      readonly message: string
    }
  | { readonly event: 'facilitator.stopping'; readonly signal: string }
  | { readonly event: 'facilitator.stopped' }
  | { readonly event: 'facilitator.forced'; readonly seconds: number }
  | { readonly event: 'journal.replayed'; readonly records: number }
  | { readonly event: 'journal.torn'; readonly bytes: number }
  | { readonly event: 'journal.failed'; readonly err: unknown }
  | { readonly event: 'journal.copy_accepted'; readonly block: string }
  | { readonly event: 'history.opened'; readonly records: number; readonly bytes: number }
  | { readonly event: 'history.torn'; readonly bytes: number }
  | { readonly event: 'history.failed'; readonly err: unknown }
  | { readonly event: 'request.failed'; readonly route: string; readonly err: unknown }
  | { readonly event: 'seller.unknown_token'; readonly caller: string; readonly count: number }
  | { readonly event: 'address.failed'; readonly err: unknown }
  /** The signer thread ended. The daemon continues without it, more slowly. */
  | { readonly event: 'recovery.lost'; readonly err: unknown }
  /** Transfers could not be followed, or findings could not be recorded. The next round comes later. */
  | { readonly event: 'follow.failed'; readonly err: unknown }

/** Sums up failures of one kind that were not written one by one. */
export type RepeatedEvent = {
  readonly event: 'log.repeated'
  readonly of: string
  readonly message: string
  readonly count: number
  readonly seconds: number
}

export type LogEvent =
  | LifecycleEvent
  | RepeatedEvent
  | PaymentEvent
  | FinalizeEvent
  | PathEvent
  | DeciderEvent
  | RelayerEvent
  | FollowEvent
  | SweepEvent

/** An event without the nonce that links a mint to its burn. */
type Unlinked<Event> = Event extends { readonly challengeNonce: string; readonly event: `mint.${string}` }
  ? Omit<Event, 'challengeNonce'>
  : Event extends { readonly event: 'payment.finalized' }
    ? Omit<Event, 'challengeNonce'>
    : never

/** An event as the log writes it. Mint events have their nonce only if `log.link_mints` is set. */
export type WrittenEvent = LogEvent | Unlinked<LogEvent>

/** Receives every event. */
export type Log = (event: LogEvent) => void

/** Writes an event to the log. */
export type LogWriter = (event: WrittenEvent) => void

type FieldsOf<Event extends LogEvent['event']> = Exclude<keyof Extract<LogEvent, { event: Event }>, 'event'>

const challengeNonce = 'names the payment'
const linkedNonce = 'names the payment; only with `log.link_mints`'
const burnHash = 'the burn transaction'
const err = 'the error, with its causes'
const txNonce = 'account nonce of the transaction'
const daemonFields = {
  url: 'the address it listens on',
  network: 'CAIP-2 name of the network',
  profile: 'the profile, or "unset"',
  ledgerId: 'the id of the ledger; addresses of epochs derive from it, so keep it (`recover --ledger-id`)',
}
const sweepFields = {
  txHash: 'the transfer',
  payments: 'payments whose fees are in it',
  amount: 'their sum in base units',
}

const at =
  <const L extends 'info' | 'warn' | 'error'>(level: L) =>
  <F extends Readonly<Record<string, string>> = Record<never, string>>(about: string, fields = {} as F) => ({
    level,
    about,
    fields,
  })
const [info, warn, error] = [at('info'), at('warn'), at('error')]

/** The level, the meaning and the fields of every event; `docs/reference/log-events.md` prints this table. */
export const logEvents: {
  readonly [Event in LogEvent['event']]: {
    readonly level: 'info' | 'warn' | 'error'
    readonly about: string
    readonly fields: Readonly<Record<FieldsOf<Event>, string>>
  }
} = {
  'decider.ready': info('`svc-facilitator decide` listens.', { url: 'the address it listens on' }),
  'facilitator.listening': info('The daemon listens. Payments can be taken once it is ready.', daemonFields),
  'facilitator.ready': info('`/ready` answers 200 for the first time: payments can be taken.', daemonFields),
  'facilitator.warning': warn('Something in the configuration deserves a look.', { message: 'the warning' }),
  'facilitator.failed': error('The daemon does not start. The same message is on standard error.', {
    key: 'the setting that the failure is about, if there is one',
    code: 'what kind of failure',
    message: 'what is wrong',
  }),
  'log.repeated': warn(
    'Sums up repeated failures of one kind that were not written one by one. The first one was written with its ' +
      'stack.',
    {
      of: 'their event',
      message: 'the message of the last failure',
      count: 'how many were left out',
      seconds: 'length of the period in seconds',
    },
  ),
  'facilitator.stopping': info(
    'A signal asked the daemon to end. It finishes work under way within the grace period.',
    { signal: 'SIGTERM or SIGINT' },
  ),
  'facilitator.forced': error(
    'A part of the daemon did not close in its time, as when a disk hangs. The process ends all the same.',
    { seconds: 'how long it was waited for' },
  ),
  'facilitator.stopped': info('The daemon ended normally.'),
  'issuance.paused': warn('An operator paused new challenges.'),
  'issuance.resumed': info('An operator let new challenges be issued again.'),
  'challenge.issued': info('A challenge was issued.', {
    challengeNonce,
    amount: 'the quoted amount in base units',
  }),
  'payment.accepted': info('The burn is confirmed and recorded: the resource may be served.', {
    challengeNonce,
    txHash: burnHash,
    fee: 'base units of the amount that are the fee; absent without one',
  }),
  'burn.broadcast': info(
    'A relayed burn is in a signed transaction. Written again for each replacement at a higher gas price.',
    { challengeNonce, txHash: burnHash },
  ),
  'burn.resumed': info('A burn that the last run left unfinished is resumed.', { challengeNonce }),
  'burn.failed': warn('A relayed burn did not execute. No tokens moved, and the challenge is open again.', {
    challengeNonce,
    reason: 'a code of the table of reasons',
  }),
  'burn.interrupted': error('The outcome of a burn is unknown. Sending the same payload again resumes it.', {
    challengeNonce,
    err,
  }),
  'burn.unmatched': warn(
    'A transfer to a burn address does not cover its amount alone: it is too small, or one of several parts.',
    { challengeNonce, txHash: burnHash, reason: 'a code of the table of reasons' },
  ),
  'burn.late': warn('A burn came after its challenge expired. It buys nothing and is still minted.', {
    challengeNonce,
    txHash: burnHash,
  }),
  'burn.found': warn(
    'A burn was found on the chain that was not late and still buys nothing. It is minted if a single proof can ' +
      'do so.',
    {
      challengeNonce,
      txHash: burnHash,
      value: 'base units of the transfer',
      reason: 'unpresented, second, split, underpaid or unrecorded',
    },
  ),
  'follow.failed': warn(
    'A search for transfers that nobody presented failed. The next one comes later and continues where this one ' +
      'ended.',
    { err },
  ),
  'follow.reorged': warn('A reorg removed blocks that were already followed. The new blocks are read.', {
    block: 'last block that was followed',
    from: 'block after which reading continues',
  }),
  'follow.dust': warn(
    'An address received more transfers than are kept. The smallest appear only in the log.',
    { challengeNonce, txHash: 'the transaction' },
  ),
  'mint.proving': info('The proof of a mint is being computed.', {
    challengeNonce: linkedNonce,
    leaves: 'transfers under the root of the proof',
    company: 'waiting burns of this amount, this one included: the mint could belong to any of them',
  }),
  'mint.proved': info('The proof of a mint is ready. The mint is sent.', {
    challengeNonce: linkedNonce,
    ms: 'milliseconds the path and the proof took',
  }),
  'batch.proving': info('The proof of a batch mint is being computed.', {
    payments: 'payments that are minted together, as one sum',
    others: 'other transfers in that sum: payments that are counted again, and transfers beside a payment',
    crowd: 'transfers of the token among which the proof hides them',
  }),
  'batch.proved': info('The proof of a batch mint is ready. The mint is sent.', {
    payments: 'payments that are minted together',
    ms: 'milliseconds the paths and the proof took',
  }),
  'batch.foreign': error(
    'Another account counts burns of our epoch, so that another facilitator runs with this ledger id: perhaps a ' +
      'copy of the journal. The larger of two sums is minted and the smaller one is lost. Stop one of them.',
    {
      epoch: 'the second at which the epoch began',
      value: 'base units beyond our burns, or what the other account came to',
      submitter: 'the other account, where a count of it was found',
    },
  ),
  'batch.failed': warn('A batch mint failed. It is tried again with growing pauses.', {
    payments: 'payments that wait for it',
    reason: 'what kind of failure',
    err,
  }),
  'mint.mined': info('A mint is in a block. The payment is finalized when that block is deep enough.', {
    challengeNonce: linkedNonce,
  }),
  'mint.failed': warn('A mint failed. It is tried again with growing pauses.', {
    challengeNonce: linkedNonce,
    reason: 'what kind of failure',
    err,
  }),
  'mint.resumed': info('A mint that the last run left unfinished is resumed.', {
    challengeNonce: linkedNonce,
  }),
  'payment.finalized': info('The provider has the money: the mint is finalize.confirmations blocks deep.', {
    challengeNonce: linkedNonce,
  }),
  'payment.demoted': error(
    'A reorg removed an accepted burn. Nothing is minted until a block holds it again.',
    { challengeNonce, txHash: burnHash },
  ),
  'payment.returned': warn(
    'A block holds the burn of a demoted payment again. The payment is accepted again and will be minted.',
    { challengeNonce, txHash: burnHash },
  ),
  'finalize.on': info('This daemon mints accepted payments.', {
    artifacts: 'the folder of the proving keys',
  }),
  'finalize.off': warn('This daemon mints nothing. Accepted payments wait.', { reason: 'why' }),
  'finalize.waiting': warn('Payments wait for something that this daemon cannot fix.', {
    reason: 'what they wait for',
    payments: 'how many',
    seconds: 'how long the first has waited',
  }),
  'finalize.failed': warn('A round of finalization could not read the chain. The next one comes later.', {
    err,
  }),
  'fees.sweep_signed': info(
    'The transfer of a sweep is signed and in the journal. It is sent now.',
    sweepFields,
  ),
  'fees.sweep_resumed': info('A sweep that had not ended is taken up again: the same bytes are sent.', {
    payments: sweepFields.payments,
    amount: sweepFields.amount,
  }),
  'fees.swept': info(
    'A sweep is finalize.confirmations blocks deep: its recipient has the fees.',
    sweepFields,
  ),
  'fees.transfer_found': warn(
    'The treasury had sent tokens to the recipient of fees, by hand or by a sweep that the journal does not know. ' +
      'The transfer counts as a sweep of the oldest fees, so that none is paid twice.',
    sweepFields,
  ),
  'fees.sweep_failed': warn('Fees could not be swept. They stay due, and the next attempt comes later.', {
    reason: 'what kind of failure',
    message: 'what is wrong and what helps',
    err,
  }),
  'fees.distributed': info('The balance of the splitter was distributed to provider and fee recipient.', {
    txHash: 'the transaction',
    amount: 'the balance in base units, as seen before',
  }),
  'fees.distribute_failed': warn(
    'The balance of the splitter could not be distributed. Nothing is lost, and the next attempt comes later.',
    { err },
  ),
  'indexer.failed': warn('The indexer gave no path to the root on chain, so our own tree was used.', { err }),
  'decider.proved': info('The decider made a batch proof, which was checked here.', {
    ms: 'how long that took, in milliseconds',
  }),
  'decider.failed': warn('The decider gave no proof that counts, so the daemon proves by itself.', { err }),
  'burn.reorged': error(
    'A reorg removed the burn of an accepted payment, which may have been served. A relayed burn is sent again, ' +
      'and nothing is minted until a block holds it.',
    { challengeNonce },
  ),
  'burn.lost': error(
    'A burn that a reorg removed cannot be executed any more. Its payment stays without a burn.',
    { challengeNonce, reason: 'a code of the table of reasons' },
  ),
  'relayer.unfunded': error('The relayer cannot pay for its transaction, which waits for money.', {
    address: 'the account to fund',
  }),
  'relayer.price_raised': warn('A transaction stayed unmined and was replaced at a higher gas price.', {
    txNonce,
    txHash: 'the replacement',
  }),
  'relayer.displaced': warn('Somebody else used a txNonce of the relayer key. That key must have one user.', {
    txNonce,
  }),
  'relayer.gap_filled': warn(
    'An unused txNonce blocked the queue and was filled with an empty transaction.',
    { txNonce },
  ),
  'relayer.send_refused': warn('The node refused a transaction. It is sent again.', {
    txNonce,
    message: "the node's message",
  }),
  'relayer.given_up': error(
    'The node refused a transaction for good. An empty one uses its txNonce, and its burns go into smaller ' +
      'transactions.',
    { txNonce, txHash: 'the empty transaction' },
  ),
  'relayer.mined': info('A transaction of the relayer is confirmed. The fields have its cost.', {
    txNonce,
    purpose: 'burn, mint, sweep or distribution',
    gas: 'gas used',
    wei: 'cost of that gas in wei',
  }),
  'relayer.reorged': error('A reorg removed a mined transaction. It is sent again.', { txNonce }),
  'rpc.failed': warn('The RPC endpoint gave no usable answer.', { err }),
  'journal.replayed': info('The journal of the last run was read.', { records: 'how many' }),
  'journal.torn': warn(
    'A crash tore the last lines of the journal. They were dropped, because nobody had been told of them.',
    { bytes: 'how many were dropped' },
  ),
  'journal.failed': error('The disk refused a record. Waiting callers got storage_unavailable.', { err }),
  'journal.copy_accepted': warn(
    'The ledger is a restored backup, or files that were accepted with --accept-journal. What happened behind it ' +
      'is not in it: ready addresses were dropped, and burns up to this block that it does not know buy nothing and ' +
      'are minted. Run `svc-facilitator recover`, then `svc-facilitator audit`.',
    { block: 'the newest block of the chain' },
  ),
  'history.opened': info('The payment history is attached.', {
    records: 'lines of its file',
    bytes: 'bytes of its file',
  }),
  'history.torn': warn(
    'The last line of the payment history was torn by a crash and dropped. Nobody was told of its record.',
    { bytes: 'bytes dropped' },
  ),
  'history.failed': error(
    'The file of the payment history could not be written. It is tried again; payments go on, and the file ' +
      'catches up.',
    { err },
  ),
  'seller.unknown_token': warn(
    'A call had a token that belongs to none of the `[[sellers]]`, so it counted as a stranger. Written at most ' +
      'once a minute.',
    {
      caller: 'address of the latest caller; the /64 of an IPv6 address',
      count: 'such calls since the last such line',
    },
  ),
  'request.failed': error('A request failed through no fault of its caller.', {
    route: 'the path pattern',
    err,
  }),
  'address.failed': error('A one-time burn address could not be made. The pool continues after a pause.', {
    err,
  }),
  'recovery.lost': error('The signer thread ended. The daemon continues without it, more slowly.', { err }),
}

export const levelOf = ({ event }: WrittenEvent): 'info' | 'warn' | 'error' => logEvents[event].level
