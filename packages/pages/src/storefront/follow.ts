/** A payment's way as a picture that follows it: who does what, and what everybody can see of it. */
import { el } from '../dom.js'
import { type Journey, type Step, type StepName, stepNames } from './journey.js'
import { pictureOf } from './pictures.js'

const soonMs = 1_000
const laterMs = 4_000

const titles: Record<StepName, string> = {
  offer: 'You',
  burn: 'Burn',
  root: 'Root',
  proof: 'Proof',
  mint: 'Mint',
}

const words: Record<StepName, string> = {
  offer: 'You sign twice and pay no gas. The offer names an address that exists for this payment alone.',
  burn: 'The tokens go to that address. It has no key, so nobody can move them again. Now the seller serves you.',
  root: 'An indexer puts all transfers into one tree, and proves its root to a contract.',
  proof: 'The facilitator proves that a burn in this tree is the seller’s. It does not say which one.',
  mint: 'The contract checks the proof and makes new tokens for the seller.',
}

const now: Record<StepName, string> = {
  offer: 'An offer was made. It waits for the signatures.',
  burn: 'The burn is on its way to the chain.',
  root: 'The burn is on the chain. The indexer proves the root over it.',
  proof: 'The facilitator computes the proof.',
  mint: 'The mint is on its way to the chain.',
}

type Shown = {
  readonly item: HTMLElement
  readonly when: HTMLElement
  readonly seen: HTMLElement
}

/** Puts the picture into an element, and follows a payment in it until it is finalized. */
export function openPicture(into: HTMLElement): (find: () => Promise<Journey | undefined>) => void {
  const status = el('p', { class: 'status', role: 'status' }, 'Nothing is paid yet.')
  const shown = Object.fromEntries(stepNames.map((name) => [name, itemOf(name)])) as Record<StepName, Shown>
  into.append(status, el('ol', { class: 'journey' }, ...stepNames.map((name) => shown[name].item)))
  return (find) => {
    const look = async () => {
      const journey = await find().catch(() => undefined)
      if (journey) draw(journey, shown, status)
      setTimeout(look, journey?.steps.mint.state === 'done' ? laterMs : soonMs)
    }
    void look()
  }
}

function itemOf(name: StepName): Shown {
  const when = el('span', { class: 'when' }, 'waits')
  const seen = el('p', { class: 'seen' }, '–')
  const wall = name === 'proof' ? el('p', { class: 'wall' }, 'no trail across') : undefined
  const item = el(
    'li',
    { class: 'ahead' },
    wall,
    pictureOf(name),
    el('div', {}, el('h3', {}, titles[name], ' ', when), el('p', {}, words[name]), seen),
  )
  return { item, when, seen }
}

function draw(journey: Journey, shown: Record<StepName, Shown>, status: HTMLElement): void {
  const { steps } = journey
  for (const name of stepNames) {
    const { item, when, seen } = shown[name]
    item.className = steps[name].state
    setText(when, whenOf(steps[name], steps.offer))
    if (steps[name].state === 'done') seen.replaceChildren(...seenOf(name, journey))
  }
  const current = stepNames.find((name) => steps[name].state === 'now')
  const isOver = steps.mint.state === 'done'
  setText(
    status,
    current
      ? now[current]
      : isOver
        ? `Finalized: the seller has ${journey.amount}, and its mint names no payer.`
        : 'The burn waits: nothing is minted on this network.',
  )
}

/** A screen reader says what changed, and only that. */
function setText(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text
}

function whenOf({ state, at }: Step, start: Step): string {
  if (state === 'now') return 'now'
  if (state === 'ahead') return 'waits'
  return at && start.at && at > start.at ? `after ${at - start.at} s` : 'done'
}

const short = (hex: string | undefined) =>
  el('code', hex ? { title: hex } : {}, hex ? `${hex.slice(0, 6)}…${hex.slice(-4)}` : '?')

/** What the chain shows to everybody. */
function seenOf(name: StepName, journey: Journey): (Node | string)[] {
  const { amount, payer, payTo, seller, transfers, steps } = journey
  const { transaction } = steps[name]
  const sees = el('b', {}, 'Everybody sees ')
  if (name === 'burn')
    return [sees, short(payer), ' → ', short(payTo), `, ${amount}, in `, short(transaction)]
  if (name === 'root') return [sees, `one root over ${transfers ?? 'all'} transfers`]
  if (name === 'mint')
    return [sees, `new ${amount} for `, short(seller), ', from nobody, in ', short(transaction)]
  return [sees, 'nothing']
}
