/** The part of the page that changes. */
import { el } from '../dom.js'

export type Button = readonly [label: string | Node, action: () => unknown, rank?: 'second' | undefined]

const steps = ['Wallet', 'Signatures', 'Burn', 'Yours']

export const area = document.getElementById('pay') as HTMLElement

/** Shows how many steps are done, a title, paragraphs, and what can be done now. */
export function show(
  done: number,
  mood: 'busy' | 'bad' | 'good' | '',
  title: string,
  body: readonly (Node | string | undefined)[],
  ...buttons: (Button | HTMLElement)[]
): void {
  const heading = el('h2', { tabindex: '-1' }, title)
  const hadFocus = area.contains(document.activeElement)
  area.className = mood
  area.replaceChildren(
    el('ol', { class: 'steps' }, ...steps.map((step, index) => stepOf(step, done - index))),
    heading,
    ...body.map((part) => (typeof part === 'string' ? el('p', {}, part) : (part ?? ''))),
    el('div', { class: 'row' }, ...buttons.map((button) => ('length' in button ? buttonOf(button) : button))),
  )
  // The button that was pressed is gone.
  if (hadFocus) heading.focus()
}

const stepOf = (name: string, ahead: number) =>
  el('li', ahead > 0 ? { class: 'done' } : ahead < 0 ? {} : { class: 'now', 'aria-current': 'step' }, name)

const buttonOf = ([label, action, rank]: Button) => el('button', { class: rank, click: action }, label)

export const quiet = (...parts: (Node | string)[]): HTMLElement => el('p', { class: 'quiet' }, ...parts)
