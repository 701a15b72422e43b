/** Every log event and its fields. None contains a secret or a body. */
import type { FinalizeEvent } from '../payment/finalize/ports.js'
import type { PaymentEvent } from '../payment/report.js'
import type { FollowEvent, PathEvent, RelayerEvent } from './reports.js'

export type LifecycleEvent =
  | {
      readonly event: 'facilitator.ready'
      readonly url: string
      readonly network: string
      readonly profile: string
    }
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
  | { readonly event: 'journal.replayed'; readonly records: number }
  | { readonly event: 'journal.torn'; readonly bytes: number }
  | { readonly event: 'journal.failed'; readonly err: unknown }
  | {
      readonly event: 'journal.compacted'
      readonly recordsBefore: number
      readonly recordsAfter: number
      readonly bytesBefore: number
      readonly bytesAfter: number
    }
  | { readonly event: 'journal.compaction_failed'; readonly err: unknown }
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
  | RelayerEvent
  | FollowEvent

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

/** The level, the meaning and the fields of every event; `docs/reference/log-events.md` prints this table. */
export const logEvents: {
  readonly [Event in LogEvent['event']]: {
    readonly level: 'info' | 'warn' | 'error'
    readonly about: string
    readonly fields: Readonly<Record<FieldsOf<Event>, string>>
  }
} = {
  'facilitator.ready': {
    level: 'info',
    about: 'The daemon listens.',
    fields: {
      url: 'where it listens',
      network: 'CAIP-2 name of the network',
      profile: 'the profile, or "unset"',
    },
  },
  'facilitator.warning': {
    level: 'warn',
    about: 'Something in the configuration deserves a look.',
    fields: { message: 'what' },
  },
  'facilitator.failed': {
    level: 'error',
    about: 'The daemon does not start. The same words are on standard error.',
    fields: {
      key: 'the setting it is about, where one is',
      code: 'what kind of failure',
      message: 'what is wrong',
    },
  },
  'log.repeated': {
    level: 'warn',
    about:
      'Failures of one kind that came again and were not written one by one. The first stands above with its stack.',
    fields: {
      of: 'their event',
      message: 'the words of the last of them',
      count: 'how many were left out',
      seconds: 'within how long',
    },
  },
  'facilitator.stopping': {
    level: 'info',
    about: 'A signal asked the daemon to end; work under way is finished within the grace.',
    fields: { signal: 'SIGTERM or SIGINT' },
  },
  'facilitator.stopped': { level: 'info', about: 'The daemon ended in order.', fields: {} },
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
    fields: { challengeNonce: nonce, txHash: burnHash },
  },
  'burn.broadcast': {
    level: 'info',
    about: 'A relayed burn is in a signed transaction; again for each replacement at a higher fee.',
    fields: { challengeNonce: nonce, txHash: burnHash },
  },
  'burn.resumed': {
    level: 'info',
    about: 'A burn that the last run left unfinished is taken up again.',
    fields: { challengeNonce: nonce },
  },
  'burn.failed': {
    level: 'warn',
    about: 'A relayed burn did not execute; nothing was taken, and the challenge is open again.',
    fields: { challengeNonce: nonce, reason: 'a code of the table of reasons' },
  },
  'burn.interrupted': {
    level: 'error',
    about: 'How a burn ended is not known here; the same payload, sent again, takes it up.',
    fields: { challengeNonce: nonce, err: cause },
  },
  'burn.unmatched': {
    level: 'warn',
    about: 'A transfer to a burn address that covers nothing: too little, or only together with others.',
    fields: { challengeNonce: nonce, txHash: burnHash, reason: 'a code of the table of reasons' },
  },
  'burn.late': {
    level: 'warn',
    about: 'A burn came after its challenge expired; it buys nothing and is minted all the same.',
    fields: { challengeNonce: nonce, txHash: burnHash },
  },
  'burn.found': {
    level: 'warn',
    about:
      'A burn that was not late and buys nothing either, found on the chain; it is minted as far as one proof can.',
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
      'A look for transfers that nobody presented failed; the next comes later and goes on where this one ended.',
    fields: { err: cause },
  },
  'follow.indexer_failed': {
    level: 'warn',
    about:
      "The indexer did not tell the token's transfers as the chain has them; the logs are read instead. Told once " +
      'until it works again.',
    fields: { err: cause },
  },
  'follow.reorged': {
    level: 'warn',
    about: 'Blocks that were followed are not on the chain any more; they are read again.',
    fields: { block: 'up to where they were followed', from: 'after which block they are read again' },
  },
  'follow.dust': {
    level: 'warn',
    about: 'More transfers came to an address than are kept of it; the smallest are told here only.',
    fields: { challengeNonce: nonce, txHash: 'the transaction' },
  },
  'mint.proving': {
    level: 'info',
    about: 'The proof of a mint is being computed.',
    fields: {
      challengeNonce: linkedNonce,
      leaves: 'transfers under the root it is proved against',
      company: 'waiting burns of this amount, this one included: any of them could explain the mint',
    },
  },
  'mint.proved': {
    level: 'info',
    about: 'The proof of a mint is there; the mint is sent.',
    fields: { challengeNonce: linkedNonce, ms: 'milliseconds the path and the proof took' },
  },
  'mint.mined': {
    level: 'info',
    about: 'A mint is in a block. The payment is finalized once that block is deep enough.',
    fields: { challengeNonce: linkedNonce },
  },
  'mint.failed': {
    level: 'warn',
    about: 'A mint did not come about; it is tried again, later each time.',
    fields: { challengeNonce: linkedNonce, reason: 'what kind of failure', err: cause },
  },
  'mint.resumed': {
    level: 'info',
    about: 'A mint that the last run left unfinished is taken up again.',
    fields: { challengeNonce: linkedNonce },
  },
  'payment.finalized': {
    level: 'info',
    about: 'The provider has the money: the mint is as deep as finalize.confirmations asks.',
    fields: { challengeNonce: linkedNonce },
  },
  'payment.demoted': {
    level: 'error',
    about: 'A reorg took away an accepted burn. Nothing is minted until a block holds it again.',
    fields: { challengeNonce: nonce, txHash: burnHash },
  },
  'payment.returned': {
    level: 'warn',
    about: 'A block holds the burn of a demoted payment again; it is accepted again, and will be minted.',
    fields: { challengeNonce: nonce, txHash: burnHash },
  },
  'finalize.on': {
    level: 'info',
    about: 'This daemon mints what it accepts.',
    fields: { artifacts: 'the folder of the proving keys' },
  },
  'finalize.off': {
    level: 'warn',
    about: 'Nothing is minted by this daemon; accepted payments wait.',
    fields: { reason: 'why' },
  },
  'finalize.waiting': {
    level: 'warn',
    about: 'Payments wait for something that only others can mend.',
    fields: {
      reason: 'what they wait for',
      payments: 'how many',
      seconds: 'how long the first of them has waited by now',
    },
  },
  'finalize.failed': {
    level: 'warn',
    about: 'A round of finalization could not look at the chain; the next comes later.',
    fields: { err: cause },
  },
  'indexer.failed': {
    level: 'warn',
    about: 'The indexer gave no path that leads to the root on chain; our own tree was asked instead.',
    fields: { err: cause },
  },
  'burn.reorged': {
    level: 'error',
    about:
      'A reorg took back the burn of an accepted payment. It is sent again; nothing is minted until a block holds it.',
    fields: { challengeNonce: nonce },
  },
  'burn.lost': {
    level: 'error',
    about: 'A burn that a reorg took back cannot be executed any more: its payment stays without one.',
    fields: { challengeNonce: nonce, reason: 'a code of the table of reasons' },
  },
  'relayer.unfunded': {
    level: 'error',
    about: 'The relayer cannot pay for its transaction; it waits for money.',
    fields: { address: 'the account to fund' },
  },
  'relayer.fee_raised': {
    level: 'warn',
    about: 'A transaction stayed unmined and was replaced at a higher fee.',
    fields: { nonce: relayerNonce, txHash: 'the replacement' },
  },
  'relayer.displaced': {
    level: 'warn',
    about: 'Somebody else used a nonce of the relayer key. That key must have one user.',
    fields: { nonce: relayerNonce },
  },
  'relayer.gap_filled': {
    level: 'warn',
    about: 'A nonce nobody used kept the queue waiting and was filled.',
    fields: { nonce: relayerNonce },
  },
  'relayer.send_refused': {
    level: 'warn',
    about: 'The node did not take a transaction; it is sent again.',
    fields: { nonce: relayerNonce, message: 'what the node said' },
  },
  'relayer.given_up': {
    level: 'error',
    about:
      'The node refused a transaction for good. An empty one uses up its nonce; its burns are put into smaller ones.',
    fields: { nonce: relayerNonce, txHash: 'the empty transaction' },
  },
  'relayer.mined': {
    level: 'info',
    about: 'A transaction of the relayer is confirmed, and this is what it cost.',
    fields: {
      nonce: relayerNonce,
      purpose: 'burn or mint',
      gas: 'gas it used',
      wei: 'what it paid for that, in wei',
    },
  },
  'relayer.reorged': {
    level: 'error',
    about: 'A reorg took back a transaction that had been mined; it is sent again.',
    fields: { nonce: relayerNonce },
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
      'A crash tore the last line of the journal. Nobody was told of what it would have said; it was dropped.',
    fields: { bytes: 'how many were dropped' },
  },
  'journal.failed': {
    level: 'error',
    about: 'The disk refused a record; whoever waited for it got storage_unavailable.',
    fields: { err: cause },
  },
  'journal.compacted': {
    level: 'info',
    about:
      'The journal was written anew without what it need not hold any more; new records went on meanwhile.',
    fields: {
      recordsBefore: 'records it held when that began',
      recordsAfter: 'records that say the same',
      bytesBefore: 'their bytes before',
      bytesAfter: 'and after',
    },
  },
  'journal.compaction_failed': {
    level: 'warn',
    about:
      'The journal could not be written anew, for want of space perhaps. It is used as it is; nothing is lost.',
    fields: { err: cause },
  },
  'seller.unknown_token': {
    level: 'warn',
    about:
      'A call brought a token that belongs to none of the `[[sellers]]`; it was counted as a stranger. Told once a minute ' +
      'at most.',
    fields: {
      caller: 'address of the latest one, an IPv6 one by its /64',
      count: 'such calls since it was last told',
    },
  },
  'request.failed': {
    level: 'error',
    about: 'A request failed through no fault of its caller.',
    fields: { route: 'the path pattern', err: cause },
  },
  'address.failed': {
    level: 'error',
    about: 'A one-time burn address could not be made; the pool goes on after a pause.',
    fields: { err: cause },
  },
  'recovery.lost': {
    level: 'error',
    about: 'The thread that recovers signers ended; the daemon goes on without it, slower.',
    fields: { err: cause },
  },
}

export const levelOf = ({ event }: WrittenEvent): 'info' | 'warn' | 'error' => logEvents[event].level
