/** The offer on the table, and how its amounts are written. */
import { inTokens, type TokenLabel } from '@svc-zerc20/protocol'
import { el } from '../dom.js'
import { nowMs } from '../system-clock.js'
import { decode, offerIn, type PermitOffer, type Required } from './payment.js'
import { askForOffer } from './present.js'
import { area } from './view.js'

/** An offer that ends sooner than this is renewed before anything is signed. */
const signingMs = 60_000

const { required, symbol, decimals } = area.dataset
let offer = offerIn(decode<Required>(required))
let sinceMs = nowMs()
let token: TokenLabel | undefined = symbol && decimals ? { symbol, decimals: Number(decimals) } : undefined

export const current = (): PermitOffer | undefined => offer

export const endsAtMs = ({ maxTimeoutSeconds }: PermitOffer): number => sinceMs + 1000 * maxTimeoutSeconds

export const isStale = (offered: PermitOffer): boolean =>
  endsAtMs(offered) - nowMs() < Math.min(signingMs, 500 * offered.maxTimeoutSeconds)

export const money = (amount: string | bigint): string =>
  (token && inTokens(BigInt(amount), token)) ?? `${amount} base units`

/** What the token itself says takes the place of what the seller said. */
export function writeIn(known: TokenLabel): void {
  token = known
  writePrice()
}

function writePrice(): void {
  const price = document.getElementById('price')
  if (price && offer) price.textContent = money(offer.amount)
}

export function putForward(next: Required | undefined): void {
  offer = offerIn(next)
  sinceMs = nowMs()
  writePrice()
}

/** Gets a new offer where the old one is over. Returns the words of what came instead. */
export async function renew(): Promise<string | undefined> {
  if (offer && !isStale(offer)) return undefined
  const answer = await askForOffer()
  if (answer === 'free') location.reload()
  else if ('text' in answer) return answer.text
  else putForward(answer)
  return undefined
}

export const short = (address: string): HTMLElement =>
  el('code', { title: address }, `${address.slice(0, 8)}…${address.slice(-6)}`)
