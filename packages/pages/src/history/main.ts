/** The history page: a participant's payments, totals, exports and statements, as far as it may see them. */
import { type Actions, askReader, dialog, listen } from '../actions.js'
import { Refused } from '../ask.js'
import { el } from '../dom.js'
import { download } from '../format.js'
import { morph } from '../morph.js'
import { button, field, type Part, section } from '../parts.js'
import { codeOf, findWallets, type Wallet } from '../paywall/wallet.js'
import { nowMs } from '../system-clock.js'
import {
  createHistory,
  type History,
  type HistoryAnswers,
  type HistoryPayment,
  logIn,
  type Whoami,
} from './api.js'
import { forgetFiles, statementCheck, takeFiles } from './statement.js'
import { door, type Month, monthTable, onePayment, paymentTable } from './view.js'

const walletWaitMs = 300
const months = 12
const root = document.body

let wallets: readonly Wallet[] = []
let history: History | undefined
let whoami: Whoami | undefined
let payments: readonly HistoryPayment[] = []
let next: string | undefined
let phase = ''
let totals: readonly Month[] = []
let one: HistoryAnswers['payment'] | undefined
let said = ''
let isBusy = false

const nonceInPlace = () => (/^#0x[0-9a-f]{64}$/.test(location.hash) ? location.hash.slice(1) : undefined)

/** The last months in the reader's zone, the newest first. */
function monthsUntilNow(): Omit<Month, 'totals'>[] {
  const today = new Date(nowMs())
  const startOf = (back: number) => new Date(today.getFullYear(), today.getMonth() - back, 1)
  return Array.from({ length: months }, (_, back) => ({
    since: startOf(back).getTime() / 1000,
    until: startOf(back - 1).getTime() / 1000,
    name: startOf(back).toLocaleDateString(undefined, { month: 'long', year: 'numeric' }),
  }))
}

const pageQuery = (cursor = '') => `limit=50${phase && `&phase=${phase}`}${cursor && `&cursor=${cursor}`}`

/** Shows nothing before all of it is there. */
async function look(): Promise<void> {
  if (!history) return
  const read = history
  const me = whoami ?? (await read.whoami())
  const nonce = nonceInPlace()
  if (nonce !== undefined) {
    one = await read.payment(nonce)
  } else if (me.sees !== 'nonce') {
    const [page, ...sums] = await Promise.all([
      read.payments(pageQuery()),
      ...monthsUntilNow().map(async (month) => ({
        ...month,
        totals: await read.totals(month.since, month.until),
      })),
    ])
    payments = page.payments
    next = page.next
    totals = sums
  }
  if (nonce === undefined) one = undefined
  whoami = me
}

function body(): Part[] {
  if (!whoami) return [door(wallets)]
  if (one) return onePayment(one, whoami)
  const byNonce = section(
    'One payment',
    el(
      'form',
      { 'data-do': 'open', class: 'filters' },
      field(
        'Open a payment by its nonce',
        el('input', {
          name: 'nonce',
          placeholder: '0x…',
          pattern: '\\s*0x[0-9a-fA-F]{64}\\s*',
          required: '',
          autocomplete: 'off',
        }),
      ),
      el('div', { class: 'buttons' }, el('button', { class: 'small' }, 'Open')),
    ),
  )
  return whoami.sees === 'nonce'
    ? [byNonce]
    : [
        monthTable(totals, whoami, nowMs() / 1000),
        paymentTable(payments, { phase, hasMore: next !== undefined }, whoami),
        byNonce,
      ]
}

function draw(): void {
  const wanted = document.createElement('body')
  const seen = whoami && (whoami.address ?? whoami.treasury)
  const status = isBusy ? 'Asking the facilitator …' : said
  wanted.append(
    el(
      'header',
      { 'data-key': 'header' },
      el('strong', {}, 'Payment history'),
      el('span', { class: 'quiet network' }, whoami ? `${whoami.role} ${seen ?? ''}` : ''),
      el('span', { class: 'states' }),
      whoami ? button('Log out', 'log-out') : '',
    ),
    el(
      'main',
      { 'data-key': `${whoami ? 'in' : 'out'} ${nonceInPlace() ?? ''}`, tabindex: '-1' },
      el(
        'div',
        { class: 'top' },
        el('h1', {}, whoami ? (one ? 'Payment' : `Payments as ${whoami.role}`) : 'Payment history'),
        el('p', { role: 'status', class: 'said' }, status),
      ),
      ...body().map((part) => part ?? ''),
      statementCheck(),
    ),
    dialog(),
  )
  morph(root, wanted)
  document.title = 'Payment history'
}

async function getStatement(path: string, name: string, terms: object = {}): Promise<void> {
  const given = await askReader(
    'For whom is it?',
    'Whoever checks it sees this name. It holds everything you may see of it: svc-pay present-statement leaves out what the reader need not know.',
    'Go on',
    field(
      'Audience, such as https://auditor.example',
      el('input', { name: 'audience', required: '', maxlength: '256', autocomplete: 'off', pattern: '\\S+' }),
    ),
    field(
      'A word of the verifier, if it gave you one',
      el('input', { name: 'nonce', maxlength: '256', autocomplete: 'off', pattern: '\\S*' }),
    ),
  )
  if (!given || !history) return
  const [audience, nonce] = ['audience', 'nonce'].map((each) => String(given.get(each) ?? ''))
  const file = await history.statement(path, { ...terms, audience, ...(nonce && { nonce }) })
  download(`${name}.json`, 'application/json', `${JSON.stringify(file, undefined, 2)}\n`)
  said = 'The statement is in your downloads. Drop it below to see what it says.'
}

function logOut(why = ''): void {
  history = undefined
  whoami = undefined
  payments = []
  totals = []
  one = undefined
  said = why
}

const actions: Actions = {
  async 'log-in'(index) {
    const wallet = wallets[Number(index)]
    if (wallet) history = createHistory(await logIn(wallet))
    await look()
  },
  'log-out': () => logOut(),
  async phase(_, form) {
    phase = String((form && new FormData(form).get('phase')) ?? '')
    await look()
  },
  async more() {
    const page = await history?.payments(pageQuery(next))
    payments = [...payments, ...(page?.payments ?? [])]
    next = page?.next
  },
  open(_, form) {
    if (form) location.hash = `#${String(new FormData(form).get('nonce')).trim().toLowerCase()}`
  },
  async export(format) {
    const blob = await history?.exported(format === 'csv' ? 'csv' : 'json')
    if (blob) download(`history-${whoami?.role}.${format}`, blob.type, blob)
  },
  async disclose(nonce) {
    const isSure = await askReader(
      'Disclose this payment?',
      'The provider sees your address and your burn from then on. This cannot be taken back.',
      'Disclose',
    )
    if (isSure) one = await history?.disclose(nonce)
  },
  statement: (nonce) => getStatement(`payments/${nonce}/statement`, 'statement'),
  receipt: (nonce) => getStatement(`payments/${nonce}/receipt`, 'receipt'),
  total(period) {
    const [since, until] = period.split(' ').map(Number)
    return getStatement('totals/statement', 'total', { since, until })
  },
}

/** Does something, and says what went wrong. */
async function run(doing: () => unknown): Promise<void> {
  said = ''
  isBusy = true
  draw()
  try {
    await doing()
  } catch (error) {
    if (error instanceof Refused && error.status === 401 && whoami)
      logOut('The login has ended. Log in again.')
    else
      said =
        error instanceof Refused
          ? error.message
          : codeOf(error) === 4001
            ? 'You said no in the wallet. Nothing happened.'
            : 'No answer. Try again.'
  }
  isBusy = false
  draw()
}

const take = (files: FileList | null | undefined) => {
  if (files && files.length > 0) void run(() => takeFiles([...files], whoami))
}

listen(root, actions, run)
root.addEventListener('change', ({ target }) => {
  if (target instanceof HTMLInputElement && target.hasAttribute('data-files')) take(target.files)
})
// A file may be dropped anywhere: a browser would leave the page for it.
root.addEventListener('dragover', (event) => event.preventDefault())
root.addEventListener('drop', (event) => {
  event.preventDefault()
  take(event.dataTransfer?.files)
})
addEventListener('hashchange', () => void run(look))
// A browser may keep the whole page, with the login in it, for the back button.
addEventListener('pagehide', () => {
  logOut()
  forgetFiles()
  draw()
})
findWallets((found) => {
  wallets = found
  draw()
}, walletWaitMs)
draw()
