/** What a participant sees: totals, payments, and one payment with its turns. */
import { el } from '../dom.js'
import { amount, column, dayName, hash, plural, shortDay, when } from '../format.js'
import { badge, button, choice, facts, field, type Part, section, table } from '../parts.js'
import type { Wallet } from '../paywall/wallet.js'
import { nowMs } from '../system-clock.js'
import type { HistoryAnswers, HistoryPayment, Whoami } from './api.js'

export type Month = {
  readonly since: number
  readonly until: number
  readonly name: string
  readonly totals: HistoryAnswers['totals']
}

const isEmpty = ({ totals: { accepted, late } }: Month) => accepted.payments + late.payments === 0

export function monthTable(totals: readonly Month[], whoami: Whoami, now: number): HTMLElement {
  const token = whoami.tokenLabel
  const isProvider = whoami.role === 'provider'
  const sum = ({ payments: count, amount: units }: { payments: number; amount: string }) =>
    el('span', { title: plural(count, 'payment') }, column(units, token))
  return section(
    'Totals by month',
    el('p', { class: 'quiet' }, 'By the time of the burns, in your time zone.'),
    table(
      'Totals by month',
      [
        'Month',
        'Payments#',
        `Paid${token ? `, ${token.symbol}` : ''}#`,
        'Bought nothing#',
        ...(isProvider ? ['Fees#', 'Minted#'] : []),
        'Statement',
      ],
      totals
        .filter((month) => !isEmpty(month))
        .map(({ name, since, until, totals: of }) => ({
          key: name,
          cells: [
            name,
            `${of.accepted.payments}`,
            sum(of.accepted),
            sum(of.late),
            ...(isProvider ? [of.fees && sum(of.fees), of.finalized && sum(of.finalized)] : []),
            whoami.statements
              ? until <= now
                ? button('Statement', 'total', `${since} ${until}`)
                : quiet('when the month is over')
              : undefined,
          ],
        })),
      'Nothing in the last twelve months.',
    ),
  )
}

const quiet = (text: string): HTMLElement => el('span', { class: 'quiet' }, text)

const isPaid = ({ accepted, late }: HistoryPayment) => accepted !== undefined || late !== undefined

const daySeconds = 86_400

/** Payers are told of a mint when a whole day in UTC has passed after the day of their burn, or later if it came later. */
function notFinalized(payment: HistoryPayment, isProvider: boolean): HTMLElement | undefined {
  const burnedAt = payment.accepted?.at ?? payment.late?.at
  if (burnedAt === undefined) return undefined
  if (isProvider) return quiet('not minted yet')
  const toldAt = (Math.floor(burnedAt / daySeconds) + 2) * daySeconds
  return quiet(toldAt * 1000 > nowMs() ? `told from ${shortDay(toldAt)} on` : 'not told yet')
}

const phaseBadge = (payment: HistoryPayment) =>
  badge(payment.phase, payment.phase === 'late' ? 'warn' : payment.phase)

export function paymentTable(
  payments: readonly HistoryPayment[],
  { phase, hasMore }: { readonly phase: string; readonly hasMore: boolean },
  whoami: Whoami,
): HTMLElement {
  const token = whoami.tokenLabel
  const isProvider = whoami.role === 'provider'
  return section(
    'Payments',
    el(
      'form',
      { 'data-do': 'phase', class: 'filters' },
      field(
        'Phase',
        choice('phase', phase, [
          ['', 'all'],
          ...['challenged', 'accepted', 'finalized', 'late'].map((each) => [each, each] as const),
        ]),
      ),
      el('div', { class: 'buttons' }, el('button', { class: 'small' }, 'Show')),
    ),
    table(
      'Payments',
      [
        'When',
        'Payment',
        'Phase',
        `Amount${token ? `, ${token.symbol}` : ''}#`,
        'Finalized',
        isProvider ? 'Payer' : 'Burn',
      ],
      payments.map((payment) => ({
        key: payment.challengeNonce,
        cells: [
          when(payment.accepted?.at ?? payment.late?.at ?? payment.issuedAt),
          el('a', { href: `#${payment.challengeNonce}` }, hash(payment.challengeNonce)),
          phaseBadge(payment),
          column(payment.accepted?.value ?? payment.late?.value ?? payment.amount, token),
          payment.finalizedAt !== undefined
            ? when(payment.finalizedAt)
            : (payment.finalizedOn ?? notFinalized(payment, isProvider)),
          isProvider
            ? payment.payer
              ? hash(payment.payer)
              : isPaid(payment)
                ? quiet('not disclosed')
                : undefined
            : hash(payment.accepted?.burn?.transaction ?? payment.late?.burn?.transaction),
        ],
      })),
      'No payment fits.',
    ),
    el(
      'div',
      { class: 'buttons' },
      hasMore ? button('Load more', 'more') : undefined,
      button('Everything as CSV', 'export', 'csv'),
      button('Everything as JSON', 'export', 'json'),
    ),
  )
}

const long = (hex: string | undefined): Part =>
  hex === undefined ? undefined : el('code', { class: 'break' }, hex)

const turnNames: Record<HistoryAnswers['payment']['turns'][number]['kind'], string> = {
  challenged: 'Challenge issued',
  accepted: 'Accepted: the resource may be served',
  demoted: 'A reorg took the burn',
  moved: 'The burn is in another block',
  finalized: 'Finalized: the provider has the money',
  late: 'A burn that bought nothing',
  unmatched: 'A transfer that covered nothing',
  disclosed: 'Disclosed to the provider',
}

export function onePayment({ payment, turns }: HistoryAnswers['payment'], whoami: Whoami): Part[] {
  const token = whoami.tokenLabel
  const { accepted, late, fee, mint } = payment
  const isPayer = whoami.role === 'payer' && whoami.sees === 'address'
  return [
    el('p', {}, el('a', { href: '#' }, '← All payments')),
    el(
      'div',
      { class: 'pair' },
      section(
        'Payment',
        el('p', { class: 'figure' }, amount(payment.amount, token), ' ', phaseBadge(payment)),
        facts(
          ['Nonce', long(payment.challengeNonce)],
          ['Issued', when(payment.issuedAt)],
          ['Paid', accepted && el('span', {}, amount(accepted.value, token), ' ', when(accepted.at))],
          ['Burn', long(accepted?.burn?.transaction ?? late?.burn?.transaction)],
          ['Payer', long(payment.payer)],
          ['Burn address', long(payment.payTo)],
          ['Fee', fee && amount(fee.amount, token)],
          [
            'Finalized',
            payment.finalizedAt === undefined
              ? payment.finalizedOn && `by ${payment.finalizedOn} (UTC)`
              : when(payment.finalizedAt),
          ],
          ['Mint', long(mint?.transaction)],
          ['Treasury', long(payment.treasury)],
          [
            'Bought nothing',
            late && el('span', {}, `${late.reason}: `, amount(late.value, token), ' ', when(late.at)),
          ],
          [
            'Disclosed to the provider',
            payment.disclosedAt === undefined ? (isPayer ? 'no' : undefined) : when(payment.disclosedAt),
          ],
        ),
        el(
          'div',
          { class: 'buttons' },
          whoami.statements && isPaid(payment)
            ? button('Get a statement', 'statement', payment.challengeNonce, 'small')
            : undefined,
          whoami.statements && payment.finalizedOn
            ? button('Get a finality receipt', 'receipt', payment.challengeNonce)
            : undefined,
          isPayer && isPaid(payment) && payment.disclosedAt === undefined
            ? button('Disclose it to the provider', 'disclose', payment.challengeNonce)
            : undefined,
        ),
      ),
      section(
        'Its turns',
        el(
          'ol',
          { class: 'timeline' },
          ...turns.map(({ kind, at, on }) =>
            el(
              'li',
              {},
              el('strong', {}, turnNames[kind]),
              el(
                'span',
                { class: 'quiet' },
                at === undefined ? on && dayName(Date.parse(on) / 1000) : when(at),
              ),
            ),
          ),
        ),
      ),
    ),
  ]
}

/** Before anybody logged in. */
export function door(wallets: readonly Wallet[]): HTMLElement {
  return section(
    'Log in with your wallet',
    el(
      'p',
      {},
      'The wallet signs a message of this facilitator. It costs nothing, moves nothing, and is good for 15 minutes; a reload forgets it.',
    ),
    wallets.length === 0
      ? el(
          'p',
          { class: 'note' },
          'No wallet was found in this browser. Install one, or ask the operator for an identity token and use the API.',
        )
      : undefined,
    el(
      'div',
      { class: 'buttons' },
      ...wallets.map(({ name, icon }, i) => {
        const choose = button(name, 'log-in', `${i}`, '')
        if (icon) choose.prepend(el('img', { src: icon, alt: '', width: '20', height: '20' }))
        return choose
      }),
    ),
  )
}
