/** Payments: a live list with filters, and the way of one payment from its challenge to its mint. */
import { el } from '../dom.js'
import { amount, column, csv, hash, plural, sentence, span, type Token, utcOf, when } from '../format.js'
import { badge, button, choice, facts, field, type Part, section, table } from '../parts.js'
import type { Admin, AdminAnswers, Payment } from './api.js'
import { needsHelp, remedies } from './attention.js'
import type { Screen, Seen } from './screen.js'

const phases = ['open', 'expired', 'accepted', 'finalized'] as const

/** What the reader filters by, as the form has it. */
type Filter = {
  readonly [Name in 'phase' | 'since' | 'until' | 'least' | 'most' | 'seller' | 'find']?: string
}

let filter: Filter = {}
/** Payments behind the first page that the reader asked for. */
let older: readonly Payment[] = []
let next: string | undefined

export function setFilter(form: FormData, token: Token | undefined): void {
  filter = Object.fromEntries([...form].map(([name, value]) => [name, String(value).trim()]))
  older = []
  next = undefined
  query = queryOf(token)
}
let query = ''

/** Base units of what a person typed in token units. */
function unitsOf(text: string, token: Token | undefined): string {
  const [whole = '0', fraction = ''] = text.replace(',', '.').split('.')
  const decimals = token?.decimals ?? 0
  return BigInt(`${whole || '0'}${fraction.slice(0, decimals).padEnd(decimals, '0')}`).toString()
}

function queryOf(token: Token | undefined): string {
  const { phase, since, until, least, most, seller, find } = filter
  const asked = new URLSearchParams()
  const add = (name: string, value: string | undefined) => value && asked.set(name, value)
  const at = (text: string | undefined) =>
    text ? `${Math.floor(new Date(text).getTime() / 1000)}` : undefined
  const units = (text: string | undefined) => (text ? unitsOf(text, token) : undefined)
  add('find', find)
  add('phase', phase)
  add('since', at(since))
  add('until', at(until))
  add('minAmount', units(least))
  add('maxAmount', units(most))
  add('seller', seller)
  return `${asked}`
}

export async function loadOlder(admin: Admin, first: AdminAnswers['payments'] | undefined): Promise<void> {
  const after = next ?? first?.next
  if (after === undefined) return
  const page = await admin.get('payments', `${query}&after=${after}`)
  older = [...(older.length > 0 ? older : (first?.payments ?? [])), ...page.payments]
  next = page.next ?? ''
}

/** The newest of the first page before what was loaded behind it. */
function shownOf({ payments }: AdminAnswers['payments']): readonly Payment[] {
  const fresh = new Map(payments.map((payment) => [payment.challengeNonce, payment]))
  const known = new Set(older.map(({ challengeNonce }) => challengeNonce))
  return [
    ...payments.filter(({ challengeNonce }) => !known.has(challengeNonce)),
    ...older.map((payment) => fresh.get(payment.challengeNonce) ?? payment),
  ]
}

const inIso = (at: number | undefined) => (at === undefined ? '' : new Date(at * 1000).toISOString())

/** Everything that the filter takes, as a file. */
export async function exportCsv(admin: Admin): Promise<string> {
  const all: Payment[] = []
  for await (const { payments } of admin.pages('payments', query)) all.push(...payments)
  return csv(
    [
      'challenge_nonce',
      'phase',
      'issued_at',
      'accepted_at',
      'finalized_at',
      'amount',
      'list_price',
      'fee',
      'seller',
      'payer',
      'pay_to',
      'burn_transaction',
      'mint_transaction',
      'minted',
      'waiting',
      'late',
    ],
    all.map((payment) => [
      ...[
        payment.challengeNonce,
        payment.phase,
        inIso(payment.issuedAt),
        inIso(payment.acceptedAt),
        inIso(payment.finalizedAt),
      ],
      ...[
        payment.amount,
        payment.listPrice,
        payment.fee?.amount,
        payment.seller,
        payment.burn?.from,
        payment.payTo,
      ],
      ...[
        payment.burn?.transaction,
        payment.mint?.transaction,
        payment.mint?.value,
        payment.waiting?.reason,
        payment.late?.reason,
      ],
    ]),
  )
}

function filters(): HTMLElement {
  const text = (name: keyof Filter, type = 'text', more = {}) =>
    el('input', { name, type, value: filter[name] ?? '', autocomplete: 'off', ...more })
  return el(
    'form',
    { 'data-do': 'filter', class: 'filters', 'aria-label': 'Filter' },
    field(
      'Burn, nonce or burn address',
      text('find', 'search', {
        placeholder: '0x…',
        pattern: '\\s*0x([0-9a-fA-F]{40}|[0-9a-fA-F]{64})\\s*',
        spellcheck: 'false',
      }),
    ),
    field(
      'Phase',
      choice('phase', filter.phase ?? '', [['', 'all'], ...phases.map((phase) => [phase, phase] as const)]),
    ),
    field('From', text('since', 'datetime-local')),
    field('Before', text('until', 'datetime-local')),
    field('At least', text('least', 'text', { inputmode: 'decimal', pattern: '[0-9]*[.,]?[0-9]*' })),
    field('At most', text('most', 'text', { inputmode: 'decimal', pattern: '[0-9]*[.,]?[0-9]*' })),
    field('Seller', text('seller', 'text', { maxlength: '40' })),
    el('div', { class: 'buttons' }, el('button', { class: 'small' }, 'Show'), button('Clear', 'clear')),
  )
}

const phaseBadge = ({ phase, late, demoted }: Payment): HTMLElement =>
  demoted
    ? badge('reorged', 'bad')
    : late && phase !== 'accepted' && phase !== 'finalized'
      ? badge('late', 'warn')
      : badge(phase, phase)

function list({ payments, token }: Seen): Part[] {
  if (!payments) return []
  const shown = shownOf(payments)
  const more = next ?? payments.next
  return [
    filters(),
    el(
      'div',
      { class: 'card' },
      table(
        'Payments',
        [
          'Issued',
          'Payment',
          'Phase',
          `Amount${token ? `, ${token.symbol}` : ''}#`,
          'Seller',
          'Payer',
          'Burn',
          'Mint',
        ],
        shown.map((payment) => ({
          key: payment.challengeNonce,
          cells: [
            when(payment.issuedAt),
            el('a', { href: `#payments/${payment.challengeNonce}` }, hash(payment.challengeNonce)),
            phaseBadge(payment),
            column(payment.amount, token),
            payment.seller && el('span', { class: 'clip', title: payment.seller }, payment.seller),
            hash(payment.burn?.from ?? payment.late?.from),
            hash(payment.transaction ?? payment.late?.transaction),
            payment.mint
              ? hash(payment.mint.transaction ?? 'minted')
              : payment.waiting &&
                el('span', { class: 'quiet' }, payment.waiting.reason.replaceAll('_', ' ')),
          ],
        })),
        filter.find
          ? 'No payment has this burn, nonce or address. Attention lists transfers that covered nothing.'
          : 'No payment fits.',
      ),
      el(
        'div',
        { class: 'buttons' },
        el('span', { class: 'quiet' }, `${plural(shown.length, 'payment')}${more ? ', more follow' : ''}`),
        more ? button('Load older ones', 'older') : undefined,
        button('All of these as CSV', 'csv'),
      ),
    ),
  ]
}

const eventNames: Readonly<Record<string, string>> = {
  challenge_issued: 'Challenge issued',
  payment_claimed: 'Presented; the burn is sent, or looked for',
  claim_released: 'Burn failed; no tokens moved',
  payment_accepted: 'Accepted: the resource may be served',
  grant_used: 'The success answer was written',
  payment_demoted: 'A reorg took the burn: open again',
  burn_moved: 'A reorg moved the burn to another block',
  burn_late: 'A burn that buys nothing; it is minted',
  burn_unmatched: 'A transfer that covers nothing',
  transfer_counted: 'A batch counts a transfer to its address',
  mint_signed: 'Proof made, mint sent',
  payment_finalized: 'Finalized: the provider has the money',
  payment_disclosed: 'The payer let the provider see it',
}

function timeline(turns: AdminAnswers['payment']['timeline']): HTMLElement {
  return el(
    'ol',
    { class: 'timeline' },
    ...turns.map(({ at, event, txHash, reason }, i) => {
      const before = turns[i - 1]
      return el(
        'li',
        { class: /released|demoted|late|unmatched/.test(event) ? 'bad' : '' },
        el('strong', {}, eventNames[event] ?? event),
        el(
          'span',
          { class: 'quiet' },
          when(at),
          before && at > before.at ? ` · ${span(at - before.at)} later` : '',
        ),
        reason === undefined ? undefined : el('span', {}, reason),
        txHash === before?.txHash ? undefined : long(txHash),
      )
    }),
  )
}

const long = (hex: string | undefined): Part =>
  hex === undefined ? undefined : el('code', { class: 'break' }, hex)

function one({ payment: answer, token }: Seen): Part[] {
  if (!answer) return []
  const { payment } = answer
  const { waiting, late } = payment
  return [
    el('p', {}, el('a', { href: '#payments' }, '← All payments')),
    el(
      'div',
      { class: 'pair' },
      section(
        'Payment',
        el('p', { class: 'figure' }, amount(payment.amount, token), ' ', phaseBadge(payment)),
        waiting &&
          el(
            'p',
            { class: `note ${needsHelp(waiting.reason) ? 'bad' : ''}` },
            el('strong', {}, `Waits: ${waiting.reason.replaceAll('_', ' ')}. `),
            sentence(waiting.meaning),
            remedies[waiting.reason],
          ),
        waiting &&
          el(
            'div',
            { class: 'buttons' },
            button('Retry its mint now', 'retry', payment.challengeNonce, 'small'),
          ),
        facts(
          ['Nonce', long(payment.challengeNonce)],
          ['Burn address', long(payment.payTo)],
          ['Seller', payment.seller],
          ['Payer', long(payment.burn?.from)],
          ['Burn', long(payment.burn?.transaction ?? payment.transaction)],
          ['Burned', payment.burn && amount(payment.burn.value, token)],
          ['Beyond the amount', payment.surplus && amount(payment.surplus, token)],
          ['List price', amount(payment.listPrice, token)],
          [
            'Fee',
            payment.fee &&
              el(
                'span',
                {},
                amount(payment.fee.amount, token),
                ` (${payment.fee.bps / 100} %, on the ${payment.fee.chargeTo})`,
              ),
          ],
          ['Mint', long(payment.mint?.transaction)],
          ['Minted', payment.mint && amount(payment.mint.value, token)],
          ['Goes to', long(payment.treasury)],
          ['Success answered', payment.granted ? 'yes' : 'no'],
          ['Expires', el('span', { title: utcOf(payment.expiresAt) }, when(payment.expiresAt))],
          [
            'Burn that bought nothing',
            late &&
              el('span', {}, `${late.reason}: `, amount(late.value, token), ' ', long(late.transaction)),
          ],
        ),
      ),
      section('From challenge to mint', timeline(answer.timeline)),
    ),
  ]
}

export const payments: Screen = {
  title: 'Payments',
  asks: (rest) => (rest ? { payment: rest } : { payments: query }),
  draw: (seen) => (seen.rest ? one(seen) : list(seen)),
}
