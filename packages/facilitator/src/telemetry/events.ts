/** Every log event and its fields. None contains a secret or a body. */
import type { FinalizeEvent } from '../payment/finalize/ports.js'
import type { PaymentEvent } from '../payment/report.js'
import type { SweepEvent } from '../payment/sweep/ports.js'
import type { DeciderEvent, FollowEvent, PathEvent, RelayerEvent } from './reports.js'

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

const nonce = 'names the payment'
const linkedNonce = 'names the payment; only with `log.link_mints`'
const burnHash = 'the burn transaction'
const cause = 'the error, with its causes'
const relayerNonce = 'account nonce of the transaction'
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

/** The level, the meaning and the fields of every event; `docs/reference/log-events.md` prints this table. */
export const logEvents: {
  readonly [Event in LogEvent['event']]: {
    readonly level: 'info' | 'warn' | 'error'
    readonly about: string
    readonly fields: Readonly<Record<FieldsOf<Event>, string>>
  }
} = {
  'decider.ready': {
    level: 'info',
    about: '`svc-facilitator decide` listens.',
    fields: { url: 'the address it listens on' },
  },
  'facilitator.listening': {
    level: 'info',
    about: 'The daemon listens. Payments can be taken once it is ready.',
    fields: daemonFields,
  },
  'facilitator.ready': {
    level: 'info',
    about: '`/ready` answers 200 for the first time: payments can be taken.',
    fields: daemonFields,
  },
  'facilitator.warning': {
    level: 'warn',
    about: 'Something in the configuration deserves a look.',
    fields: { message: 'the warning' },
  },
  'facilitator.failed': {
    level: 'error',
    about: 'The daemon does not start. The same message is on standard error.',
    fields: {
      key: 'the setting that the failure is about, if there is one',
      code: 'what kind of failure',
      message: 'what is wrong',
    },
  },
  'log.repeated': {
    level: 'warn',
    about:
      'Sums up repeated failures of one kind that were not written one by one. The first one was written with its stack.',
    fields: {
      of: 'their event',
      message: 'the message of the last failure',
      count: 'how many were left out',
      seconds: 'length of the period in seconds',
    },
  },
  'facilitator.stopping': {
    level: 'info',
    about: 'A signal asked the daemon to end. It finishes work under way within the grace period.',
    fields: { signal: 'SIGTERM or SIGINT' },
  },
  'facilitator.forced': {
    level: 'error',
    about:
      'A part of the daemon did not close in its time, as when a disk hangs. The process ends all the same.',
    fields: { seconds: 'how long it was waited for' },
  },
  'facilitator.stopped': { level: 'info', about: 'The daemon ended normally.', fields: {} },
  'issuance.paused': { level: 'warn', about: 'An operator paused new challenges.', fields: {} },
  'issuance.resumed': { level: 'info', about: 'An operator let new challenges be issued again.', fields: {} },
  'challenge.issued': {
    level: 'info',
    about: 'A challenge was issued.',
    fields: { challengeNonce: nonce, amount: 'the quoted amount in base units' },
  },
  'payment.accepted': {
    level: 'info',
    about: 'The burn is confirmed and recorded: the resource may be served.',
    fields: {
      challengeNonce: nonce,
      txHash: burnHash,
      fee: 'base units of the amount that are the fee; absent without one',
    },
  },
  'burn.broadcast': {
    level: 'info',
    about:
      'A relayed burn is in a signed transaction. Written again for each replacement at a higher gas price.',
    fields: { challengeNonce: nonce, txHash: burnHash },
  },
  'burn.resumed': {
    level: 'info',
    about: 'A burn that the last run left unfinished is resumed.',
    fields: { challengeNonce: nonce },
  },
  'burn.failed': {
    level: 'warn',
    about: 'A relayed burn did not execute. No tokens moved, and the challenge is open again.',
    fields: { challengeNonce: nonce, reason: 'a code of the table of reasons' },
  },
  'burn.interrupted': {
    level: 'error',
    about: 'The outcome of a burn is unknown. Sending the same payload again resumes it.',
    fields: { challengeNonce: nonce, err: cause },
  },
  'burn.unmatched': {
    level: 'warn',
    about:
      'A transfer to a burn address does not cover its amount alone: it is too small, or one of several parts.',
    fields: { challengeNonce: nonce, txHash: burnHash, reason: 'a code of the table of reasons' },
  },
  'burn.late': {
    level: 'warn',
    about: 'A burn came after its challenge expired. It buys nothing and is still minted.',
    fields: { challengeNonce: nonce, txHash: burnHash },
  },
  'burn.found': {
    level: 'warn',
    about:
      'A burn was found on the chain that was not late and still buys nothing. It is minted if a single proof can do so.',
    fields: {
      challengeNonce: nonce,
      txHash: burnHash,
      value: 'base units of the transfer',
      reason: 'unpresented, second, split, underpaid or unrecorded',
    },
  },
  'follow.failed': {
    level: 'warn',
    about:
      'A search for transfers that nobody presented failed. The next one comes later and continues where this one ended.',
    fields: { err: cause },
  },
  'follow.indexer_failed': {
    level: 'warn',
    about:
      "The indexer's transfers differ from the chain's, so the logs are read instead. Written once until the indexer " +
      'works again.',
    fields: { err: cause },
  },
  'follow.reorged': {
    level: 'warn',
    about: 'A reorg removed blocks that were already followed. The new blocks are read.',
    fields: { block: 'last block that was followed', from: 'block after which reading continues' },
  },
  'follow.dust': {
    level: 'warn',
    about: 'An address received more transfers than are kept. The smallest appear only in the log.',
    fields: { challengeNonce: nonce, txHash: 'the transaction' },
  },
  'mint.proving': {
    level: 'info',
    about: 'The proof of a mint is being computed.',
    fields: {
      challengeNonce: linkedNonce,
      leaves: 'transfers under the root of the proof',
      company: 'waiting burns of this amount, this one included: the mint could belong to any of them',
    },
  },
  'mint.proved': {
    level: 'info',
    about: 'The proof of a mint is ready. The mint is sent.',
    fields: { challengeNonce: linkedNonce, ms: 'milliseconds the path and the proof took' },
  },
  'batch.proving': {
    level: 'info',
    about: 'The proof of a batch mint is being computed.',
    fields: {
      payments: 'payments that are minted together, as one sum',
      others: 'other transfers in that sum: payments that are counted again, and transfers beside a payment',
      crowd: 'transfers of the token among which the proof hides them',
    },
  },
  'batch.proved': {
    level: 'info',
    about: 'The proof of a batch mint is ready. The mint is sent.',
    fields: {
      payments: 'payments that are minted together',
      ms: 'milliseconds the paths and the proof took',
    },
  },
  'batch.foreign': {
    level: 'error',
    about:
      'Another account counts burns of our epoch, so that another facilitator runs with this ledger id: perhaps a copy of ' +
      'the journal. The larger of two sums is minted and the smaller one is lost. Stop one of them.',
    fields: {
      epoch: 'the second at which the epoch began',
      value: 'base units beyond our burns, or what the other account came to',
      submitter: 'the other account, where a count of it was found',
    },
  },
  'batch.failed': {
    level: 'warn',
    about: 'A batch mint failed. It is tried again with growing pauses.',
    fields: {
      payments: 'payments that wait for it',
      reason: 'what kind of failure',
      err: cause,
    },
  },
  'mint.mined': {
    level: 'info',
    about: 'A mint is in a block. The payment is finalized when that block is deep enough.',
    fields: { challengeNonce: linkedNonce },
  },
  'mint.failed': {
    level: 'warn',
    about: 'A mint failed. It is tried again with growing pauses.',
    fields: { challengeNonce: linkedNonce, reason: 'what kind of failure', err: cause },
  },
  'mint.resumed': {
    level: 'info',
    about: 'A mint that the last run left unfinished is resumed.',
    fields: { challengeNonce: linkedNonce },
  },
  'payment.finalized': {
    level: 'info',
    about: 'The provider has the money: the mint is finalize.confirmations blocks deep.',
    fields: { challengeNonce: linkedNonce },
  },
  'payment.demoted': {
    level: 'error',
    about: 'A reorg removed an accepted burn. Nothing is minted until a block holds it again.',
    fields: { challengeNonce: nonce, txHash: burnHash },
  },
  'payment.returned': {
    level: 'warn',
    about:
      'A block holds the burn of a demoted payment again. The payment is accepted again and will be minted.',
    fields: { challengeNonce: nonce, txHash: burnHash },
  },
  'finalize.on': {
    level: 'info',
    about: 'This daemon mints accepted payments.',
    fields: { artifacts: 'the folder of the proving keys' },
  },
  'finalize.off': {
    level: 'warn',
    about: 'This daemon mints nothing. Accepted payments wait.',
    fields: { reason: 'why' },
  },
  'finalize.waiting': {
    level: 'warn',
    about: 'Payments wait for something that this daemon cannot fix.',
    fields: {
      reason: 'what they wait for',
      payments: 'how many',
      seconds: 'how long the first has waited',
    },
  },
  'finalize.failed': {
    level: 'warn',
    about: 'A round of finalization could not read the chain. The next one comes later.',
    fields: { err: cause },
  },
  'fees.sweep_signed': {
    level: 'info',
    about: 'The transfer of a sweep is signed and in the journal. It is sent now.',
    fields: sweepFields,
  },
  'fees.sweep_resumed': {
    level: 'info',
    about: 'A sweep that had not ended is taken up again: the same bytes are sent.',
    fields: { payments: sweepFields.payments, amount: sweepFields.amount },
  },
  'fees.swept': {
    level: 'info',
    about: 'A sweep is finalize.confirmations blocks deep: its recipient has the fees.',
    fields: sweepFields,
  },
  'fees.transfer_found': {
    level: 'warn',
    about:
      'The treasury had sent tokens to the recipient of fees, by hand or by a sweep that the journal does not know. The ' +
      'transfer counts as a sweep of the oldest fees, so that none is paid twice.',
    fields: sweepFields,
  },
  'fees.sweep_failed': {
    level: 'warn',
    about: 'Fees could not be swept. They stay due, and the next attempt comes later.',
    fields: { reason: 'what kind of failure', message: 'what is wrong and what helps', err: cause },
  },
  'fees.distributed': {
    level: 'info',
    about: 'The balance of the splitter was distributed to provider and fee recipient.',
    fields: { txHash: 'the transaction', amount: 'the balance in base units, as seen before' },
  },
  'fees.distribute_failed': {
    level: 'warn',
    about:
      'The balance of the splitter could not be distributed. Nothing is lost, and the next attempt comes later.',
    fields: { err: cause },
  },
  'indexer.failed': {
    level: 'warn',
    about: 'The indexer gave no path to the root on chain, so our own tree was used.',
    fields: { err: cause },
  },
  'decider.proved': {
    level: 'info',
    about: 'The decider made a batch proof, which was checked here.',
    fields: { ms: 'how long that took, in milliseconds' },
  },
  'decider.failed': {
    level: 'warn',
    about: 'The decider gave no proof that counts, so the daemon proves by itself.',
    fields: { err: cause },
  },
  'burn.reorged': {
    level: 'error',
    about:
      'A reorg removed the burn of an accepted payment, which may have been served. A relayed burn is sent again, and ' +
      'nothing is minted until a block holds it.',
    fields: { challengeNonce: nonce },
  },
  'burn.lost': {
    level: 'error',
    about: 'A burn that a reorg removed cannot be executed any more. Its payment stays without a burn.',
    fields: { challengeNonce: nonce, reason: 'a code of the table of reasons' },
  },
  'relayer.unfunded': {
    level: 'error',
    about: 'The relayer cannot pay for its transaction, which waits for money.',
    fields: { address: 'the account to fund' },
  },
  'relayer.price_raised': {
    level: 'warn',
    about: 'A transaction stayed unmined and was replaced at a higher gas price.',
    fields: { txNonce: relayerNonce, txHash: 'the replacement' },
  },
  'relayer.displaced': {
    level: 'warn',
    about: 'Somebody else used a txNonce of the relayer key. That key must have one user.',
    fields: { txNonce: relayerNonce },
  },
  'relayer.gap_filled': {
    level: 'warn',
    about: 'An unused txNonce blocked the queue and was filled with an empty transaction.',
    fields: { txNonce: relayerNonce },
  },
  'relayer.send_refused': {
    level: 'warn',
    about: 'The node refused a transaction. It is sent again.',
    fields: { txNonce: relayerNonce, message: "the node's message" },
  },
  'relayer.given_up': {
    level: 'error',
    about:
      'The node refused a transaction for good. An empty one uses its txNonce, and its burns go into smaller transactions.',
    fields: { txNonce: relayerNonce, txHash: 'the empty transaction' },
  },
  'relayer.mined': {
    level: 'info',
    about: 'A transaction of the relayer is confirmed. The fields have its cost.',
    fields: {
      txNonce: relayerNonce,
      purpose: 'burn, mint, sweep or distribution',
      gas: 'gas used',
      wei: 'cost of that gas in wei',
    },
  },
  'relayer.reorged': {
    level: 'error',
    about: 'A reorg removed a mined transaction. It is sent again.',
    fields: { txNonce: relayerNonce },
  },
  'rpc.failed': { level: 'warn', about: 'The RPC endpoint gave no usable answer.', fields: { err: cause } },
  'journal.replayed': {
    level: 'info',
    about: 'The journal of the last run was read.',
    fields: { records: 'how many' },
  },
  'journal.torn': {
    level: 'warn',
    about:
      'A crash tore the last line of the journal. The line was dropped, because nobody had been told of it.',
    fields: { bytes: 'how many were dropped' },
  },
  'journal.failed': {
    level: 'error',
    about: 'The disk refused a record. Waiting callers got storage_unavailable.',
    fields: { err: cause },
  },
  'journal.copy_accepted': {
    level: 'warn',
    about:
      'The ledger is a restored backup, or files that were accepted with --accept-journal. What happened behind it is not ' +
      'in it: ready addresses were dropped, and burns up to this block that it does not know buy nothing and are minted. Run ' +
      '`svc-facilitator recover`, then `svc-facilitator audit`.',
    fields: { block: 'the newest block of the chain' },
  },
  'history.opened': {
    level: 'info',
    about: 'The payment history is attached.',
    fields: { records: 'lines of its file', bytes: 'bytes of its file' },
  },
  'history.torn': {
    level: 'warn',
    about:
      'The last line of the payment history was torn by a crash and dropped. Nobody was told of its record.',
    fields: { bytes: 'bytes dropped' },
  },
  'history.failed': {
    level: 'error',
    about:
      'The file of the payment history could not be written. It is tried again; payments go on, and the file catches up.',
    fields: { err: cause },
  },
  'seller.unknown_token': {
    level: 'warn',
    about:
      'A call had a token that belongs to none of the `[[sellers]]`, so it counted as a stranger. Written at most once a ' +
      'minute.',
    fields: {
      caller: 'address of the latest caller; the /64 of an IPv6 address',
      count: 'such calls since the last such line',
    },
  },
  'request.failed': {
    level: 'error',
    about: 'A request failed through no fault of its caller.',
    fields: { route: 'the path pattern', err: cause },
  },
  'address.failed': {
    level: 'error',
    about: 'A one-time burn address could not be made. The pool continues after a pause.',
    fields: { err: cause },
  },
  'recovery.lost': {
    level: 'error',
    about: 'The signer thread ended. The daemon continues without it, more slowly.',
    fields: { err: cause },
  },
}

export const levelOf = ({ event }: WrittenEvent): 'info' | 'warn' | 'error' => logEvents[event].level
