/** The operator's dashboard. It has no data of its own: everything is asked for with the token that its reader typed. */
import { type Actions, askReader, dialog, listen } from '../actions.js'
import { Refused } from '../ask.js'
import { el } from '../dom.js'
import { download, type Token } from '../format.js'
import { morph } from '../morph.js'
import { badge, button, field, type Part } from '../parts.js'
import { nowMs } from '../system-clock.js'
import { type Admin, type AdminAnswers, createAdmin } from './api.js'
import { attention, mattersOf } from './attention.js'
import { health } from './health.js'
import { exportMints, money } from './money.js'
import { chooseRange, overview } from './overview.js'
import { exportCsv, loadOlder, payments, setFilter } from './payments.js'
import { privacy } from './privacy.js'
import type { Screen } from './screen.js'

const screens: Readonly<Record<string, Screen>> = { overview, payments, attention, money, privacy, health }
const pollMs = 5_000
/** Answers that change slowly or are large are asked for less often. */
const slowMs = 30_000
const slow: readonly string[] = ['hours', 'mints']

let admin: Admin | undefined
let answers: { [Name in keyof AdminAnswers]?: AdminAnswers[Name] } = {}
/** When each answer came, and what was asked. */
const asked = new Map<string, { readonly query: string; readonly atMs: number }>()
/** What the reader is told: why it was signed out, or what an action did. */
let said = ''
let problem = ''
let timer: ReturnType<typeof setTimeout> | undefined
let turn = 0

const root = document.body
const nowSeconds = () => Math.floor(nowMs() / 1000)

function place(): { readonly name: string; readonly screen: Screen; readonly rest: string } {
  const [name = '', rest = ''] = location.hash.slice(1).split('/')
  const screen = Object.hasOwn(screens, name) ? screens[name] : undefined
  return screen ? { name, screen, rest } : { name: 'overview', screen: overview, rest: '' }
}

async function ask<Name extends keyof AdminAnswers>(
  name: Name,
  query: string,
  isForced: boolean,
): Promise<void> {
  const before = asked.get(name)
  const isFresh = before?.query === query && slow.includes(name) && nowMs() - before.atMs < slowMs
  if (!admin || (isFresh && !isForced)) return
  const answer = await admin.get(name, query)
  asked.set(name, { query, atMs: nowMs() })
  answers = { ...answers, [name]: answer }
}

/** Asks for what the screen shows, then shows it, again and again. A look that a later one overtook ends. */
async function look(isForced = false): Promise<void> {
  clearTimeout(timer)
  if (!admin) return draw()
  turn += 1
  const mine = turn
  const { screen, rest } = place()
  const wanted = { status: '', ...screen.asks(rest, nowSeconds()) }
  for (const [name, query] of Object.entries(wanted)) {
    if (asked.get(name)?.query !== query) delete answers[name as keyof AdminAnswers]
  }
  draw()
  try {
    await Promise.all(
      Object.entries(wanted).map(([name, query]) => ask(name as keyof AdminAnswers, query, isForced)),
    )
    if (mine === turn) problem = ''
  } catch (error) {
    if (mine !== turn) return
    if (error instanceof Refused && error.status === 401) return signOut(wrongToken)
    problem = error instanceof Refused ? error.message : 'No answer from the facilitator. Trying again.'
  }
  if (mine !== turn) return
  try {
    draw()
  } catch {
    // A facilitator of another version took the place of the one that served this page.
    answers = {}
    asked.clear()
    problem = 'This page does not understand the facilitator. Reload it.'
    draw()
  }
  timer = setTimeout(look, pollMs)
}

const wrongToken = 'The token is not the one of this facilitator.'

function signOut(why = ''): void {
  admin = undefined
  answers = {}
  asked.clear()
  said = why
  draw()
}

const tokenOf = (): Token | undefined => answers.status?.token

function signIn(): Part[] {
  return [
    el(
      'main',
      { class: 'door card', 'data-key': 'door' },
      el('h1', {}, 'Facilitator'),
      el(
        'p',
        { class: 'quiet' },
        'Sign in with the value of SVC_ADMIN_TOKEN. It stays in the memory of this page: a reload forgets it.',
      ),
      el(
        'form',
        { 'data-do': 'sign-in' },
        field(
          'Admin token',
          el('input', {
            name: 'token',
            type: 'password',
            required: '',
            autofocus: '',
            // Browsers offer to save a password, whatever `off` says, and no code for one time.
            autocomplete: 'one-time-code',
            spellcheck: 'false',
          }),
        ),
        el('button', {}, 'Sign in'),
      ),
      el('p', { role: 'alert', class: 'said' }, said),
    ),
  ]
}

function header(): HTMLElement {
  const { status } = answers
  const state = !status ? '' : status.ready ? badge('ready', 'good') : badge('not ready', 'bad')
  return el(
    'header',
    { 'data-key': 'header' },
    el('strong', {}, 'Facilitator'),
    el(
      'span',
      { class: 'quiet network' },
      status ? `${status.network}${status.token ? ` · ${status.token.symbol}` : ''}` : '',
    ),
    el(
      'span',
      { class: 'states' },
      state,
      status?.issuance === 'paused' ? badge('paused', 'warn') : undefined,
    ),
    button('Sign out', 'sign-out'),
  )
}

function navigation(current: string): HTMLElement {
  const count = answers.status ? mattersOf(answers.status).length : 0
  return el(
    'nav',
    { 'aria-label': 'Screens', 'data-key': 'nav' },
    ...Object.entries(screens).map(([name, { title }]) =>
      el(
        'a',
        { href: `#${name}`, 'aria-current': name === current ? 'page' : undefined },
        title,
        name === 'attention' && count > 0 ? badge(`${count}`, 'warn') : undefined,
      ),
    ),
  )
}

function body(): Part[] {
  const { name, screen, rest } = place()
  const { status } = answers
  const wanted = Object.keys(screen.asks(rest, nowSeconds())) as (keyof AdminAnswers)[]
  const isThere = status !== undefined && wanted.every((each) => answers[each] !== undefined)
  const drawn = isThere
    ? screen.draw({ ...answers, status, token: tokenOf(), rest, now: status.now })
    : [el('p', { class: 'quiet wait' }, problem || 'Asking the facilitator …')]
  return [
    header(),
    navigation(name),
    el(
      'main',
      { 'data-key': `${name}/${rest}`, tabindex: '-1' },
      el(
        'div',
        { class: 'top' },
        el('h1', {}, screen.title),
        el('p', { role: 'status', class: 'said' }, (isThere && problem) || said),
      ),
      ...drawn,
    ),
  ]
}

function draw(): void {
  const wanted = document.createElement('body')
  wanted.append(...[...(admin ? body() : signIn()), dialog()].map((part) => part ?? ''))
  morph(root, wanted)
  document.title = admin ? `${place().screen.title} · Facilitator` : 'Facilitator'
}

const outcomes: Readonly<Record<string, string>> = {
  due: 'Its mint is tried in the next round.',
  finalized: 'It was minted before.',
  not_burned: 'Nothing was burned for it.',
  off: 'This daemon mints nothing.',
  closing: 'What was left out of the epoch is minted now.',
  complete: 'Nothing is left out of its epoch.',
  running: 'Its epoch is not over: more payments may join it.',
  single: 'It belongs to no epoch: a proof of its own mints it.',
  paused: 'Issuance is paused.',
  open: 'Issuance is open.',
  sent: 'The sweep is signed and sent.',
  under_way: 'An earlier sweep has not ended.',
  nothing_due: 'No fee is due.',
  too_little: 'Less is due than fee.sweep_min.',
  too_young: 'Money was sent to the recipient a moment ago.',
}

/** Posts, and says what came of it. */
async function post(path: string): Promise<void> {
  const answer = await admin?.post(path)
  const word = [answer?.mint, answer?.epoch, answer?.issuance, answer?.sweep].find(
    (each) => typeof each === 'string',
  )
  said = outcomes[String(word)] ?? String(answer?.message ?? word)
}

const actions: Actions = {
  'sign-in'(_, form) {
    const given = String(form && new FormData(form).get('token')).trim()
    // No header can carry other characters, so that the question would not even be asked.
    const canBeSent = /^[\x21-\x7e]+$/.test(given)
    said = canBeSent ? '' : wrongToken
    if (canBeSent) admin = createAdmin(given)
  },
  // Forgets whatever any screen remembers.
  'sign-out': () => location.reload(),
  range: chooseRange,
  filter: (_, form) => form && setFilter(new FormData(form), tokenOf()),
  clear() {
    setFilter(new FormData(), tokenOf())
    root.querySelector<HTMLFormElement>('form.filters')?.remove()
  },
  older: () => admin && loadOlder(admin, answers.payments),
  async csv() {
    if (admin) download('payments.csv', 'text/csv', await exportCsv(admin))
  },
  async 'csv-mints'() {
    if (admin) download('mints.csv', 'text/csv', await exportMints(admin))
  },
  async retry(nonce) {
    if (
      await askReader(
        'Retry this mint?',
        'It is tried in the next round, whatever its pause says. In a batch its whole epoch goes, perhaps with less company.',
        'Retry',
      )
    )
      await post(`payments/${nonce}/retry`)
  },
  async pause() {
    const given = await askReader(
      'Pause issuance?',
      'Nobody gets a new challenge until you resume it, even after a restart. Payments under way go on.',
      'Pause',
      field(
        'Why, in one line; whoever asks is told',
        el('input', { name: 'message', maxlength: '200', autocomplete: 'off' }),
      ),
    )
    const message = String(given?.get('message') ?? '').trim()
    if (given) await post(`pause${message && `?message=${encodeURIComponent(message)}`}`)
  },
  async resume() {
    if (await askReader('Resume issuance?', 'New challenges are issued again.', 'Resume'))
      await post('resume')
  },
  async sweep() {
    if (
      await askReader(
        'Sweep the fees now?',
        'The treasury sends what is due to the recipient of fees.',
        'Sweep',
      )
    )
      await post('fees/sweep')
  },
}

listen(root, actions, async (doing) => {
  try {
    await doing()
  } catch (error) {
    said =
      error instanceof Refused
        ? error.message
        : 'No answer from the facilitator. Nothing is known of what it did.'
  }
  void look(true)
})
addEventListener('hashchange', () => {
  said = ''
  void look()
  root.querySelector('main')?.focus()
  scrollTo(0, 0)
})
// A browser may keep the whole page, with the token in it, for the back button.
addEventListener('pagehide', () => signOut())
document.addEventListener('visibilitychange', () => {
  if (document.hidden) clearTimeout(timer)
  else void look()
})
draw()
