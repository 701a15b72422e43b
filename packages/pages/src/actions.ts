/** What a page does when its reader presses something, and the question before it. */
import { el } from './dom.js'

/** By the name in `data-do`. A button hands its value over, a form itself. */
export type Actions = Readonly<Record<string, (value: string, form: HTMLFormElement | undefined) => unknown>>

export function listen(root: HTMLElement, actions: Actions, run: (doing: () => unknown) => void): void {
  const act = (event: Event) => {
    const named = (event.target as Element).closest('[data-do]')
    const isForm = named instanceof HTMLFormElement
    const action = actions[named?.getAttribute('data-do') ?? '']
    if (!action || isForm !== (event.type === 'submit')) return
    event.preventDefault()
    run(() => action(named?.getAttribute('value') ?? '', isForm ? named : undefined))
  }
  root.addEventListener('click', act)
  root.addEventListener('submit', act)
}

const template = el('dialog', { 'data-key': 'dialog', 'aria-labelledby': 'asked' })

/** The dialog of the page, as `morph` should leave it. */
export const dialog = (): Node => template.cloneNode(true)

/** Asks before something is done. Undefined when the reader thought better of it. */
export async function askReader(
  title: string,
  text: string,
  yes: string,
  ...fields: HTMLElement[]
): Promise<FormData | undefined> {
  const shown = document.querySelector('dialog')
  if (!shown) return undefined
  const form = document.createElement('form')
  form.method = 'dialog'
  form.append(
    el('h2', { id: 'asked' }, title),
    el('p', {}, text),
    ...fields,
    el(
      'div',
      { class: 'buttons' },
      el('button', { value: 'yes', class: 'small' }, yes),
      el('button', { value: 'no', class: 'second small', formnovalidate: '' }, 'Leave it'),
    ),
  )
  template.replaceChildren(form.cloneNode(true))
  shown.replaceChildren(form)
  shown.returnValue = 'no'
  shown.showModal()
  await new Promise((resolve) => shown.addEventListener('close', resolve, { once: true }))
  return shown.returnValue === 'yes' ? new FormData(form) : undefined
}
