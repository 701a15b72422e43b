/** The first look: what came in, what waits, what is left, and what needs a person. */
import { type Bar, bars } from '../chart.js'
import { el } from '../dom.js'
import {
  amount,
  dayName,
  dayStart,
  figure,
  hourName,
  inShort,
  inUnits,
  plural,
  shortDay,
  shortHour,
  span,
  type Token,
} from '../format.js'
import { button, section, tile, tiles } from '../parts.js'
import type { AdminAnswers, Status } from './api.js'
import { concernList, concernsOf, mattersOf } from './attention.js'
import { daysText, gasLeft, paceText } from './gas.js'
import type { Screen, Seen } from './screen.js'

type Hour = AdminAnswers['hours']['hours'][number]
type Sum = {
  readonly payments: number
  readonly accepted: bigint
  readonly fees: bigint
  readonly finalized: bigint
  readonly mints: number
}

const hourSeconds = 3_600
const daySeconds = 86_400
const days = 30

/** By hour or by day, as the reader chose. */
let range: 'hours' | 'days' = 'hours'
export const chooseRange = (chosen: string): void => {
  range = chosen === 'days' ? 'days' : 'hours'
}

export const sumOf = (hours: readonly Hour[]): Sum => {
  const total = (of: (hour: Hour) => string) => hours.reduce((sum, hour) => sum + BigInt(of(hour)), 0n)
  return {
    payments: hours.reduce((sum, { accepted }) => sum + accepted.payments, 0),
    mints: hours.reduce((sum, { finalized }) => sum + finalized.payments, 0),
    accepted: total(({ accepted }) => accepted.amount),
    fees: total(({ fees }) => fees),
    finalized: total(({ finalized }) => finalized.amount),
  }
}

/** The question for the hours of the last month, the current one included. */
export function hoursUntil(now: number): string {
  const hour = now - (now % hourSeconds)
  return `since=${hour - (days + 1) * daySeconds}&until=${hour + hourSeconds}`
}

type Bucket = { readonly start: number; readonly name: string; readonly sum: Sum }

/** The hours or the days of the charts, oldest first, in the reader's zone. */
function buckets(hours: readonly Hour[], now: number): Bucket[] {
  const starts =
    range === 'hours'
      ? Array.from({ length: 24 }, (_, i) => now - (now % hourSeconds) - (23 - i) * hourSeconds)
      : // From noon to noon, because some days have 23 or 25 hours.
        Array.from({ length: days }, (_, i) =>
          dayStart(dayStart(now) + daySeconds / 2 - (days - 1 - i) * daySeconds),
        )
  return starts.map((start, i) => {
    const end = starts[i + 1] ?? Number.POSITIVE_INFINITY
    return {
      start,
      name: range === 'hours' ? hourName(start) : dayName(start),
      sum: sumOf(hours.filter(({ at }) => at >= start && at < end)),
    }
  })
}

function chart(
  title: string,
  of: (sum: Sum) => bigint,
  parts: readonly Bucket[],
  token: Token | undefined,
): HTMLElement {
  const text = (units: bigint) => (token ? `${inUnits(units, token.decimals)} ${token.symbol}` : `${units}`)
  const values = parts.map(({ sum }) => of(sum))
  const largest = values.toSorted((a, b) => (a < b ? 1 : -1))[0] ?? 0n
  const total = values.reduce((a, b) => a + b, 0n)
  const all = parts.map(({ name, sum }): Bar => {
    const value = of(sum)
    return {
      value: largest === 0n ? 0 : Number((value * 1_000n) / largest),
      says: `${name}: ${text(value)}, ${plural(sum.payments, 'payment')}`,
    }
  })
  const label = `${title} by ${range === 'hours' ? 'hour of the last 24' : 'day of the last 30'}: ${text(total)} in all, at most ${text(largest)}`
  const every = range === 'hours' ? 6 : 5
  const axis = parts
    .filter((_, i) => i % every === 0)
    .map(({ start }) => (range === 'hours' ? shortHour : shortDay)(start))
  const top = token ? inShort(largest, token.decimals) : `${largest}`
  return el(
    'section',
    { class: 'card' },
    el('div', { class: 'top' }, el('h2', {}, title), el('p', { class: 'total' }, figure(total, token))),
    bars(label, all, { top: largest === 0n ? '' : top, axis }),
  )
}

function figures({ hours, status, token, now }: Seen): HTMLElement {
  const today = sumOf((hours?.hours ?? []).filter(({ at }) => at >= dayStart(now)))
  const { mints, fees } = status
  const matters = mattersOf(status)
  return tiles(
    tile('Accepted today', figure(today.accepted, token), plural(today.payments, 'payment')),
    takesFees(status) || today.fees > 0n
      ? tile(
          'Fees earned today',
          figure(today.fees, token),
          fees?.earned === undefined
            ? undefined
            : el('span', {}, amount(fees.earned, token), ' finalized in all'),
        )
      : tile('Fees earned today', 'none', 'no fee is configured'),
    tile(
      'Awaiting mint',
      figure(mints.owed, token),
      mints.awaiting === 0
        ? 'nothing waits'
        : `${plural(mints.awaiting, 'payment')}, the oldest for ${span(mints.oldestSeconds ?? 0)}: ${waitText(mints.reasons)}`,
      (mints.oldestSeconds ?? 0) > 1_800 ? 'warn' : '',
    ),
    tile('Finalized today', figure(today.finalized, token), plural(today.mints, 'payment')),
    ...gasLeft(status).map((gas) =>
      tile(
        `Gas of the ${gas.name.replace(/,.*/, '')}`,
        daysText(gas),
        paceText(gas),
        gas.days !== undefined && gas.days < 7 ? 'warn' : '',
      ),
    ),
    tile(
      'Attention',
      matters.length === 0 ? 'nothing' : plural(matters.length, 'matter'),
      status.ready ? 'ready for payments' : 'no payments are taken',
      matters.some(({ level }) => level === 'bad') ? 'bad' : matters.length > 0 ? 'warn' : '',
    ),
  )
}

const takesFees = ({ fees }: Status) => fees !== undefined && fees.mode !== 'none'

const waitText = (reasons: Readonly<Record<string, number>>) =>
  Object.entries(reasons)
    .map(([reason, count]) => `${count} ${reason.replaceAll('_', ' ')}`)
    .join(', ')

function rangeChoice(): HTMLElement {
  const one = (name: 'hours' | 'days', text: string) => {
    const choose = button(text, 'range', name)
    choose.setAttribute('aria-pressed', `${range === name}`)
    return choose
  }
  return el(
    'div',
    { class: 'choice', role: 'group', 'aria-label': 'Range of the charts' },
    one('hours', '24 hours'),
    one('days', '30 days'),
  )
}

export const overview: Screen = {
  title: 'Overview',
  asks: (_, now) => ({ hours: hoursUntil(now) }),
  draw(seen) {
    const { hours, token, now, status } = seen
    const parts = buckets(hours?.hours ?? [], now)
    const concerns = concernsOf(status)
    return [
      figures(seen),
      concerns.length > 0 ? section('What needs you', ...concernList(concerns)) : undefined,
      el('div', { class: 'top' }, el('h2', {}, 'Over time'), rangeChoice()),
      el(
        'div',
        { class: 'charts' },
        chart('Accepted', ({ accepted }) => accepted, parts, token),
        chart('Finalized', ({ finalized }) => finalized, parts, token),
        takesFees(status) || parts.some(({ sum }) => sum.fees > 0n)
          ? chart('Fees earned', ({ fees }) => fees, parts, token)
          : undefined,
      ),
    ]
  },
}
