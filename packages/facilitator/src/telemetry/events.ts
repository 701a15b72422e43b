/** Every log event and its fields. None contains a secret or a body. */
import { type EventIn, error, field, info, optional, warn } from '../payment/event-table.js'
import type { Purpose } from '../payment/records.js'
import { flowEvents } from '../payment/report.js'

const err = field<unknown>('the error, with its causes')
const txNonce = field<number>('account nonce of the transaction')
const term = field<number>('grows with each daemon that takes it')
const listening = {
  url: field<string>('the address it listens on'),
  network: field<string>('CAIP-2 name of the network'),
  profile: field<string>('the profile, or "unset"'),
  ledgerId: field<string>(
    'the id of the ledger; addresses of epochs derive from it, so keep it (`recover --ledger-id`)',
  ),
}

export const logEvents = {
  'facilitator.listening': info('The daemon listens. Payments can be taken once it is ready.', listening),
  'facilitator.ready': info('`/ready` answers 200 for the first time: payments can be taken.', listening),
  'facilitator.warning': warn('Something in the configuration deserves a look.', {
    message: field<string>('the warning'),
  }),
  'facilitator.failed': error('The daemon does not start. The same message is on standard error.', {
    key: optional<string>('the setting that the failure is about, if there is one'),
    code: field<string>('what kind of failure'),
    message: field<string>('what is wrong'),
  }),
  'facilitator.stopping': info(
    'A signal asked the daemon to end. It finishes work under way within the grace period.',
    { signal: field<string>('SIGTERM or SIGINT') },
  ),
  'facilitator.forced': error(
    'A part of the daemon did not close in its time, as when a disk hangs. The process ends all the same.',
    { seconds: field<number>('how long it was waited for') },
  ),
  'facilitator.stopped': info('The daemon ended normally.'),
  'facilitator.standby': info('Another daemon is active for the ledger. This one takes over when that ends.'),
  'active.taken': info(
    'This daemon takes payments, burns, mints and sweeps from now on. The others stand by.',
    {
      term,
    },
  ),
  'active.lost': warn('This daemon did not answer for too long, and another one takes over.'),
  'work.failed': warn('The work could not be taken up, or put down. It is tried again.', { err }),
  'decider.ready': info('`svc-facilitator decide` listens.', { url: listening.url }),
  'log.repeated': warn(
    'Sums up repeated failures of one kind that were not written one by one. The first one was written in full.',
    {
      of: field<string>('their event'),
      message: field<string>('the message of the last failure'),
      count: field<number>('how many were left out'),
      seconds: field<number>('length of the period in seconds'),
    },
  ),
  ...flowEvents,
  'follow.failed': warn(
    'A search for transfers that nobody presented failed. The next one comes later and continues where this one ' +
      'ended.',
    { err },
  ),
  'follow.reorged': warn('A reorg removed blocks that were already followed. The new blocks are read.', {
    block: field<number>('last block that was followed'),
    from: field<number>('block after which reading continues'),
  }),
  'follow.dust': warn(
    'An address received more transfers than are kept. The smallest appear only in the log.',
    { challengeNonce: field<string>('names the payment'), txHash: field<string>('the transaction') },
  ),
  'indexer.failed': warn('The indexer gave no path to the root on chain, so our own tree was used.', { err }),
  'decider.proved': info('The decider made a batch proof, which was checked here.', {
    ms: field<number>('how long that took, in milliseconds'),
  }),
  'decider.failed': warn('The decider gave no proof that counts, so the daemon proves by itself.', { err }),
  'relayer.unfunded': error('The relayer cannot pay for its transaction, which waits for money.', {
    address: field<string>('the account to fund'),
  }),
  'relayer.price_raised': warn('A transaction stayed unmined and was replaced at a higher gas price.', {
    txNonce,
    txHash: field<string>('the replacement'),
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
    message: field<string>("the node's message"),
  }),
  'relayer.given_up': error(
    'The node refused a transaction for good. An empty one uses its txNonce, and its burns go into smaller ' +
      'transactions.',
    { txNonce, txHash: field<string>('the empty transaction') },
  ),
  'relayer.mined': info('A transaction of the relayer is confirmed. The fields have its cost.', {
    txNonce,
    purpose: field<Purpose>('burn, mint, sweep or distribution'),
    gas: field<bigint>('gas used'),
    wei: field<bigint>('cost of that gas in wei'),
  }),
  'relayer.reorged': error('A reorg removed a mined transaction. It is sent again.', { txNonce }),
  'rpc.failed': warn('The RPC endpoint gave no usable answer.', { err }),
  'journal.replayed': info('The journal of the last run was read.', { records: field<number>('how many') }),
  'journal.torn': warn(
    'A crash tore the last lines of the journal. They were dropped, because nobody had been told of them.',
    { bytes: field<number>('how many were dropped') },
  ),
  'ledger.failed': error(
    'The disk or the database refused a record. Waiting callers got storage_unavailable.',
    { err },
  ),
  'ledger.copy_accepted': warn(
    'The ledger is a restored backup, or files that were accepted with --accept-copy. What happened behind it ' +
      'is not in it: ready addresses were dropped, and burns up to this block that it does not know buy nothing and ' +
      'are minted. Run `svc-facilitator recover`, then `svc-facilitator audit`.',
    { block: field<number>('the newest block of the chain') },
  ),
  'history.opened': info('The payment history is attached.', {
    records: field<number>('lines of its file'),
    bytes: field<number>('bytes of its file'),
  }),
  'history.torn': warn(
    'The last line of the payment history was torn by a crash and dropped. Nobody was told of its record.',
    { bytes: field<number>('bytes dropped') },
  ),
  'history.failed': error(
    'The file of the payment history could not be written. It is tried again; payments go on, and the file ' +
      'catches up.',
    { err },
  ),
  'issuer.failed': error(
    'The issuer of statements could not sign or keep one: its key, its papers or its disk. No statement left the daemon.',
    { err },
  ),
  'seller.unknown_token': warn(
    'A call had a token that belongs to none of the `[[sellers]]`, so it counted as a stranger.',
    { caller: field<string>('address of the caller; the /64 of an IPv6 address') },
  ),
  'request.failed': error('A request failed through no fault of its caller.', {
    route: field<string>('the path pattern'),
    err,
  }),
  'address.failed': error('A one-time burn address could not be made. The pool continues after a pause.', {
    err,
  }),
  'signers.lost': error('The signer thread ended. The daemon continues without it, more slowly.', { err }),
}

export type LogEvent = EventIn<typeof logEvents>

/** Receives every event. */
export type Log = (event: LogEvent) => void

export const levelOf = ({ event }: LogEvent): 'info' | 'warn' | 'error' => logEvents[event].level
