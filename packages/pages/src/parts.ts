/** Parts that screens are made of. */
import { el } from './dom.js'
import { nothing } from './format.js'

export type Part = Node | string | undefined

export const section = (title: string, ...children: Part[]): HTMLElement =>
  el('section', { class: 'card' }, el('h2', {}, title), ...children)

/** A figure with its name above it, and a line of detail below. */
export const tile = (name: string, figure: Part, detail?: Part, level = ''): HTMLElement =>
  el(
    'div',
    { class: `tile ${level}`.trim() },
    el('h2', {}, name),
    el('p', { class: 'figure' }, figure),
    el('p', { class: 'quiet' }, detail ?? '\u00a0'),
  )

export const tiles = (...children: Part[]): HTMLElement => el('div', { class: 'tiles' }, ...children)

export const badge = (text: string, level = ''): HTMLElement =>
  el('span', { class: `badge ${level}`.trim() }, text)

/** A button that does what `data-do` names. */
export const button = (text: string, action: string, value = '', look = 'second small'): HTMLElement =>
  el('button', { type: 'button', class: look, 'data-do': action, value }, text)

export type Row = { readonly key?: string; readonly cells: readonly Part[] }

/** Without rows it is a sentence. Columns whose name ends in `#` have numbers, which line up at the right. */
export function table(
  caption: string,
  columns: readonly string[],
  rows: readonly Row[],
  empty: string,
): HTMLElement {
  if (rows.length === 0) return el('p', { class: 'empty' }, empty)
  const isNumber = columns.map((name) => name.endsWith('#'))
  const of = (i: number) => (isNumber[i] ? { class: 'number' } : {})
  const names = columns.map((name) => name.replace(/#$/, ''))
  const head = names.map((name, i) => el('th', { scope: 'col', ...of(i) }, name))
  const body = rows.map(({ key, cells }) =>
    el(
      'tr',
      { 'data-key': key },
      ...cells.map((cell, i) => el('td', { 'data-name': names[i], ...of(i) }, cell ?? nothing())),
    ),
  )
  return el(
    'div',
    { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption },
    el(
      'table',
      {},
      el('caption', { class: 'hidden' }, caption),
      el('thead', {}, el('tr', {}, ...head)),
      el('tbody', {}, ...body),
    ),
  )
}

/** Names and values. */
export const facts = (...pairs: readonly (readonly [string, Part])[]): HTMLElement =>
  el(
    'dl',
    {},
    ...pairs
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => el('div', {}, el('dt', {}, name), el('dd', {}, value))),
  )

export const field = (label: string, control: HTMLElement): HTMLElement =>
  el('label', { class: 'field' }, el('span', {}, label), control)

export const choice = (
  name: string,
  chosen: string,
  options: readonly (readonly [string, string])[],
): HTMLElement =>
  el(
    'select',
    { name },
    ...options.map(([value, text]) =>
      el('option', { value, selected: value === chosen ? '' : undefined }, text),
    ),
  )

/** The items of each key, in the order in which the keys come first. */
export function grouped<T, K>(items: readonly T[], keyOf: (item: T) => K): [K, T[]][] {
  const groups = new Map<K, T[]>()
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item])
  return [...groups]
}
