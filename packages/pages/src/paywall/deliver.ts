/** From a signed payment to the resource. The payment is kept until the resource is here. */
import { el } from '../dom.js'
import { nowMs } from '../system-clock.js'
import { canOpen, forget, hold, type Kept, keep } from './kept.js'
import { money, putForward } from './offered.js'
import { decode, type PermitOffer } from './payment.js'
import { type Again, brokeOff, type Delivered, type Over, present } from './present.js'
import { quiet, show } from './view.js'
import { balanceOf, type Wallet } from './wallet.js'

/** Presentations before a person is asked to go on. */
const presentationsMax = 12
const pauseMs = 2_500
const pauseMsMax = 30_000
const burnPollMs = 1_500
const shownBytesMax = 1_000_000

export type Delivery = {
  readonly kept: Kept
  /** The wallet that signed, if it was in this visit: it is asked whether the burn is on the chain. */
  readonly wallet?: Wallet
  readonly startOver: () => unknown
}

export async function deliver(delivery: Delivery): Promise<void> {
  const offer = decode<{ accepted: PermitOffer }>(delivery.kept.header)?.accepted
  if (!offer) return
  if (!delivery.kept.deliveredAtMs) void hold()
  for (let presented = 1; ; presented++) {
    const stopWatching = watchBurn(delivery, offer)
    let verdict = await present(delivery.kept.header)
    stopWatching()
    if (verdict.kind === 'delivered') {
      const isReceived = await receive(verdict, offer, delivery).catch(() => false)
      if (isReceived) return
      verdict = brokeOff
    }
    if (verdict.kind === 'over') return showOver(verdict, delivery)
    if (presented >= presentationsMax) return showPending(verdict, delivery)
    showWaiting(verdict)
    const waitMs = Math.min(Math.max(verdict.waitMs, pauseMs), pauseMsMax)
    await new Promise((resolve) => setTimeout(resolve, waitMs))
  }
}

/** Shows how far the burn is, as the chain tells it, until it is stopped. */
function watchBurn({ wallet, kept }: Delivery, { asset, payTo, amount }: PermitOffer): () => void {
  show(2, 'busy', kept.deliveredAtMs ? 'You paid for this already' : 'Burning your tokens', [
    kept.deliveredAtMs
      ? 'The seller is asked for the same answer again.'
      : `${money(amount)} go to the one-time address. This takes a few seconds.`,
    quiet('You can reload or come back: this payment is kept, and never made twice.'),
  ])
  if (!wallet) return () => {}
  let isOver = false
  const stop = () => {
    isOver = true
    clearInterval(timer)
  }
  const timer = setInterval(async () => {
    const burned = await balanceOf(wallet, asset, payTo).catch(() => 0n)
    if (isOver || burned < BigInt(amount)) return
    stop()
    show(3, 'busy', 'Burned', ['The tokens are burned. The seller prepares its answer.'])
  }, burnPollMs)
  return stop
}

const burnLine = (transaction: string) =>
  transaction ? quiet('Burn transaction ', el('code', {}, transaction)) : undefined

const showWaiting = ({ reason, text, transaction }: Again) =>
  show(2, 'busy', 'Not there yet', [
    reason === 'pending_burn' ? 'The burn is sent, and not confirmed yet.' : text,
    quiet('This page presents the same payment again by itself.'),
    burnLine(transaction),
  ])

const showPending = ({ text, transaction }: Again, delivery: Delivery) =>
  show(
    2,
    'bad',
    'Your answer is still missing',
    [
      text,
      'Nothing is lost: your payment stays in this tab. Ask again, now or later. Do not pay a second time.',
      burnLine(transaction),
    ],
    ['Ask again', () => deliver(delivery)],
  )

const ended = 'The offer has ended'
const titles: Record<string, string> = {
  already_accepted: 'This payment was used before',
  challenge_expired: ended,
  deadline_passed: ended,
  insufficient_funds: 'Not enough tokens',
}

function showOver(verdict: Over, { startOver }: Delivery): void {
  const { reason, text, transaction, required } = verdict
  // With a burn, the person decides when to let go of it.
  if (!transaction) forget()
  putForward(required)
  show(
    1,
    'bad',
    titles[reason] ?? 'The payment was refused',
    [text, burnLine(transaction)],
    ['New offer', startOver],
  )
}

async function receive(
  { answer, transaction }: Delivered,
  { amount }: PermitOffer,
  { kept, startOver }: Delivery,
): Promise<boolean> {
  const header = (name: string) => answer.headers.get(name) ?? ''
  const disposition = header('content-disposition')
  const isFile = /^attachment/i.test(disposition)
  const isText = !isFile && /^(text\/(?!html)|application\/(.*\+)?json)/.test(header('content-type'))
  if (!isText && !isFile && (await canOpen(kept))) {
    keep({ ...kept, deliveredAtMs: nowMs() })
    location.reload()
    return true
  }
  if (answer.type === 'opaqueredirect') {
    const text = 'The seller sends you on to another address, and this page cannot follow. Ask the seller.'
    show(4, 'bad', 'Paid, but not here', [text, burnLine(transaction)])
    return true
  }
  const blob = await answer.blob()
  keep({ ...kept, deliveredAtMs: nowMs() })
  const named = /filename="?([^";]+)/.exec(disposition)?.[1] ?? location.pathname.split('/').at(-1)
  const save = el(
    'a',
    { class: 'button', href: URL.createObjectURL(blob), download: named || 'resource' },
    'Save',
  )
  const goods = isText && blob.size < shownBytesMax ? pretty(await blob.text()) : undefined
  show(
    4,
    'good',
    'Paid, and yours',
    [
      goods === undefined
        ? 'It is in your downloads.'
        : el('pre', { id: 'goods', tabindex: '0', role: 'region', 'aria-label': 'Bought' }, goods),
      quiet(`${money(amount)} paid. For ten minutes, this address gives it again for nothing.`),
      burnLine(transaction),
    ],
    save,
    ['Buy again', startOver, 'second'],
  )
  if (goods === undefined) save.click()
  return true
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
