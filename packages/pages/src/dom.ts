/** Elements without markup: what a stranger wrote only ever becomes a text or an attribute. */

type Child = Node | string | undefined
type Attributes = { readonly [name: string]: string | ((event: Event) => unknown) | undefined }

/** Makes an element. A function is a listener for the event of its name. */
export function el(tag: string, attributes: Attributes = {}, ...children: Child[]): HTMLElement {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'string') element.setAttribute(name, value)
    else if (value) element.addEventListener(name, value)
  }
  element.append(...children.map((child) => child ?? ''))
  return element
}

/** A moment in the reader's zone, with UTC on hover. */
export function timeOf(atMs: number): HTMLElement {
  const at = new Date(atMs)
  const datetime = at.toISOString()
  return el(
    'time',
    { datetime, title: `${datetime.slice(0, 19).replace('T', ' ')} UTC` },
    at.toLocaleTimeString(),
  )
}
