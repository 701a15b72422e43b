/** What needs a person, each with its reason, what to do, and the button that does it. */
import { el } from '../dom.js'
import { amount, hash, plural, sentence, span, type Token, when } from '../format.js'
import { badge, button, grouped, type Part, type Row, section, table } from '../parts.js'
import type { Payment, Status, WaitReason } from './api.js'
import { gasLeft } from './gas.js'
import type { Screen, Seen } from './screen.js'

/** What to do about each wait; nothing where time alone ends it. */
export const remedies: Record<WaitReason, string | undefined> = {
  delayed: undefined,
  queued: undefined,
  proving: undefined,
  gathering: undefined,
  confirming: undefined,
  elsewhere: undefined,
  root_behind:
    'See that the indexer runs and proves roots (Health). It mints by itself once a root covers the burn.',
  verifier_paused: 'Only the owner of the verifier contract can resume it. Nothing is lost meanwhile.',
  records_missing: 'Stop the daemon and run svc-facilitator recover, which looks for the missing burns.',
  foreign_mint:
    'Stop the other facilitator that uses this ledger id, then read docs/concepts/finalization.md.',
  burn_lost: 'A reorg took the burn. Nothing is owed unless it returns, which is noticed by itself.',
  unfunded: 'Send native coins to the account that mints. It goes on by itself.',
  would_revert: 'Run svc-facilitator check: it compares proving keys and contracts.',
  reverted: 'Run svc-facilitator check: it compares proving keys and contracts. Then retry.',
  displaced: 'Give the relayer key one user. Then retry.',
  mint_not_found: 'Use a node that keeps logs. The money is at the provider already.',
  unavailable: 'Node, disk, indexer or prover failed; Health and the log say which. Then retry.',
  off: 'This daemon mints nothing. Give it the proving keys (zerc20.artifacts), or start another one that mints.',
}

export type Concern = {
  /** A note is for a payer who asks. Nobody can do anything about it, so it needs nobody. */
  readonly level: 'bad' | 'warn' | 'note'
  readonly what: Part
  readonly todo: string
  readonly to: string
}

const oldAfterSeconds = 1_800
const gasDaysMin = 7
const diskMinBytes = 1e9

/** Everything that a person should look at, the worst first. */
export function concernsOf(status: Status): Concern[] {
  const { payments, mints, fees, journal, history } = status
  const found: (Concern | false | undefined)[] = [
    ...status.problems.map(({ part, problem }) =>
      bad(`${part}: ${problem}`, 'No payments are taken until this is put right.', 'health'),
    ),
    journal?.failed &&
      bad('The disk refuses the journal.', 'Make room, or replace the disk. Nothing is lost.', 'health'),
    payments.demoted
      ? bad(
          `A reorg took the burns of ${plural(payments.demoted, 'payment')}.`,
          'They wait for their burns to return; those that were served are marked.',
          'attention',
        )
      : undefined,
    ...waitsThatNeedHelp(mints.reasons).map(([reason, count]) =>
      bad(
        `${plural(count, 'mint')} cannot go on: ${reason.replaceAll('_', ' ')}.`,
        remedies[reason] ?? '',
        'attention',
      ),
    ),
    (mints.oldestSeconds ?? 0) > oldAfterSeconds &&
      warn(
        `The oldest burn has waited for its mint for ${span(mints.oldestSeconds ?? 0)}.`,
        'See what it waits for.',
        'attention',
      ),
    status.issuance === 'paused' &&
      warn('Issuance is paused: no new payments begin.', 'Resume it when you are ready.', 'attention'),
    ...gasConcerns(status),
    fees.lastError &&
      warn(
        `Fees could not be swept: ${fees.lastError.message}`,
        'They stay due and are tried again.',
        'money',
      ),
    history?.failed &&
      warn(
        'The disk refuses the file of the payment history.',
        'Payments go on, and the file catches up.',
        'health',
      ),
    journal?.freeBytes !== undefined &&
      journal.freeBytes < diskMinBytes &&
      warn('The disk of the journal is nearly full.', 'Make room.', 'health'),
    ...(status.daemons ?? [])
      .filter(({ alive }) => !alive)
      .map(({ name, silentSeconds }) =>
        note(
          `${name} was last heard of ${span(silentSeconds)} ago.`,
          'It has ended, or cannot reach the database. Other daemons do its work.',
          'health',
        ),
      ),
    payments.unmatched > 0 &&
      note(
        `${plural(payments.unmatched, 'transfer')} to burn addresses covered nothing.`,
        'A payer may ask. The list has the reason of each.',
        'attention',
      ),
    payments.late + (payments.found ?? 0) > 0 &&
      note(
        `${plural(payments.late + (payments.found ?? 0), 'burn')} bought nothing.`,
        'Each is minted all the same, and its payer may ask.',
        'attention',
      ),
  ]
  return found.filter((concern): concern is Concern => Boolean(concern))
}

/** A root usually comes by itself; the age of the oldest burn tells when it does not. */
export const needsHelp = (reason: WaitReason): boolean =>
  remedies[reason] !== undefined && reason !== 'root_behind'

const bad = (what: Part, todo: string, to: string): Concern => ({ level: 'bad', what, todo, to })
const warn = (what: Part, todo: string, to: string): Concern => ({ level: 'warn', what, todo, to })

const note = (what: Part, todo: string, to: string): Concern => ({ level: 'note', what, todo, to })

/** Those that ask for something to be done. */
export const mattersOf = (status: Status): Concern[] =>
  concernsOf(status).filter(({ level }) => level !== 'note')

const waitsThatNeedHelp = (reasons: Readonly<Record<string, number>>) =>
  (Object.entries(reasons) as [WaitReason, number][]).filter(
    ([reason, count]) => count > 0 && needsHelp(reason),
  )

const gasConcerns = (status: Status): Concern[] =>
  gasLeft(status)
    .filter(({ days }) => days !== undefined && days < gasDaysMin)
    .map(({ name, days = 0 }) =>
      warn(
        `The ${name} has gas for ${days < 1 ? 'less than a day' : plural(Math.floor(days), 'day')}.`,
        'Send native coins to its account.',
        'health',
      ),
    )

/** `here` is the screen that needs no link to itself. */
export const concernList = (concerns: readonly Concern[], here = ''): Part[] => [
  concerns.every(({ level }) => level === 'note')
    ? el('p', { class: 'calm' }, 'Nothing needs you.')
    : undefined,
  concerns.length === 0
    ? undefined
    : el(
        'ul',
        { class: 'concerns' },
        ...concerns.map(({ level, what, todo, to }) =>
          el(
            'li',
            { class: level },
            el('strong', {}, what),
            el('span', {}, todo, ' '),
            to === here ? undefined : el('a', { href: `#${to}` }, `Open ${to}`),
          ),
        ),
      ),
]

const quiet = (text: string): HTMLElement => el('p', { class: 'quiet' }, text)
const paymentLink = (nonce: string): HTMLElement => el('a', { href: `#payments/${nonce}` }, hash(nonce))

/** Payments that wait, group by group: one reason, one remedy, and a button for each payment. */
function waiting(payments: readonly Payment[], token: Token | undefined, now: number): HTMLElement {
  const groups = grouped(payments, ({ waiting: wait }) => wait?.reason)
  return section(
    'Burned and not minted yet',
    payments.length === 0 ? el('p', { class: 'calm' }, 'No burn waits for its mint.') : undefined,
    ...groups.flatMap(([reason, members]) => [
      el(
        'h3',
        {},
        badge((reason ?? 'queued').replaceAll('_', ' '), reason && needsHelp(reason) ? 'bad' : ''),
        ` ${plural(members.length, 'payment')}`,
      ),
      el(
        'p',
        {},
        sentence(members[0]?.waiting?.meaning ?? ''),
        (reason && remedies[reason]) ?? 'Time alone ends this wait.',
      ),
      table(
        `Payments that wait: ${reason}`,
        ['Payment', 'Accepted', 'Waits since', 'Amount#', 'Action'],
        members.map((payment) => ({
          key: payment.challengeNonce,
          cells: [
            paymentLink(payment.challengeNonce),
            payment.acceptedAt === undefined ? 'late' : when(payment.acceptedAt),
            payment.waiting?.since === undefined ? undefined : span(Math.max(0, now - payment.waiting.since)),
            amount(payment.burn?.value ?? payment.amount, token),
            button('Retry', 'retry', payment.challengeNonce),
          ],
        })),
        '',
      ),
    ]),
  )
}

function issuance({ status }: Seen): HTMLElement {
  const isPaused = status.issuance === 'paused'
  return section(
    'Issuance',
    el(
      'p',
      {},
      isPaused
        ? 'Paused: nobody gets a new challenge. Payments under way go on.'
        : 'Open: whoever asks gets a challenge.',
    ),
    isPaused ? button('Resume issuance', 'resume', '', '') : button('Pause issuance', 'pause'),
  )
}

/** Something that happens seldom: its title, what is known of it, and a row for each case. */
type Oddity = {
  readonly title: string
  readonly says?: string
  readonly columns: readonly string[]
  readonly rows: readonly Row[]
}

function odditiesOf({ late: answer, token }: Seen): Oddity[] {
  if (!answer) return []
  const { demoted = [], late, unmatched, stuck = [] } = answer
  return [
    {
      title: 'Burns that a reorg took',
      columns: ['Payment', 'Served', 'Amount#'],
      rows: demoted.map(({ challengeNonce, granted, amount: units }) => ({
        key: challengeNonce,
        cells: [paymentLink(challengeNonce), granted ? 'yes' : 'no', amount(units, token)],
      })),
    },
    {
      title: 'Burns that bought nothing',
      says: 'Late, never presented, or beside another burn. Each is minted to the provider all the same.',
      columns: ['Payment', 'Why', 'From', 'Burn', 'Amount#'],
      rows: late.map((payment) => ({
        key: payment.challengeNonce,
        cells: [
          paymentLink(payment.challengeNonce),
          payment.late?.reason.replaceAll('_', ' '),
          hash(payment.late?.from),
          hash(payment.late?.transaction),
          amount(payment.late?.value ?? '0', token),
        ],
      })),
    },
    {
      title: 'Transfers that covered nothing',
      says: 'Too small, or one of several parts. If a payer asks: the tokens are at an address from which only a mint to the provider takes them.',
      columns: ['Payment', 'When', 'Why', 'Transaction'],
      rows: unmatched.map(({ challengeNonce, txHash, at, reason }) => ({
        key: `${challengeNonce} ${txHash}`,
        cells: [paymentLink(challengeNonce), when(at), reason.replaceAll('_', ' '), hash(txHash)],
      })),
    },
    {
      title: 'Tokens stuck at burn addresses',
      says: 'Beyond the transfer that is minted. They stay: a second mint would tell an observer which mint was the payment.',
      columns: ['Payment', 'Burn address', 'Transfers#', 'Stuck#'],
      rows: stuck.map((address) => ({
        key: address.challengeNonce,
        cells: [
          paymentLink(address.challengeNonce),
          hash(address.payTo),
          `${address.transfers.length}`,
          amount(address.stuck, token),
        ],
      })),
    },
  ]
}

/** Kinds that there are none of are only named. */
function oddities(seen: Seen): Part[] {
  const all = odditiesOf(seen)
  const none = all.filter(({ rows }) => rows.length === 0)
  return [
    ...all
      .filter((each) => !none.includes(each))
      .map(({ title, says, columns, rows }) =>
        section(title, says === undefined ? undefined : quiet(says), table(title, columns, rows, '')),
      ),
    none.length === 0
      ? undefined
      : section(
          'None of these',
          el('ul', { class: 'none' }, ...none.map(({ title }) => el('li', {}, title))),
        ),
  ]
}

export const attention: Screen = {
  title: 'Attention',
  asks: () => ({ waiting: 'limit=100', late: 'limit=50' }),
  draw: (seen) => [
    el(
      'div',
      { class: 'pair' },
      section('Now', ...concernList(concernsOf(seen.status), 'attention')),
      issuance(seen),
    ),
    seen.waiting && waiting(seen.waiting.payments, seen.token, seen.now),
    ...oddities(seen),
  ],
}
