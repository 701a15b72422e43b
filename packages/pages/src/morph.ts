/**
 * Makes what is shown like what should be shown, and leaves the rest alone: focus, selection, scrolling and open details
 * stay. Elements have no listeners, because those would stay behind: `data-do` names an action of the page.
 */
export function morph(shown: Element, wanted: Element): void {
  for (const { name } of [...shown.attributes]) {
    if (!wanted.hasAttribute(name) && name !== 'open') shown.removeAttribute(name)
  }
  for (const { name, value } of wanted.attributes) {
    if (shown.getAttribute(name) !== value) shown.setAttribute(name, value)
  }
  morphChildren(shown, [...wanted.childNodes])
}

const keyOf = (node: Node | null) => (node instanceof Element ? node.getAttribute('data-key') : null)

const isAlike = (one: Node, other: Node) => one.nodeName === other.nodeName && keyOf(one) === keyOf(other)

function morphChildren(parent: Element, wanted: readonly Node[]): void {
  wanted.forEach((next, i) => {
    const at = parent.childNodes[i] ?? null
    const key = keyOf(next)
    // A row that only moved is moved.
    const found =
      key !== null && keyOf(at) !== key ? [...parent.children].find((child) => keyOf(child) === key) : at
    if (!found || !isAlike(found, next)) {
      parent.insertBefore(next, at)
      return
    }
    if (found !== at) parent.insertBefore(found, at)
    if (found instanceof Element && next instanceof Element) morph(found, next)
    else if (found.nodeValue !== next.nodeValue) found.nodeValue = next.nodeValue
  })
  while (parent.childNodes.length > wanted.length) parent.lastChild?.remove()
}
