/** Answers in words for people: a page in place of the JSON that programs get. Status and payment headers stay. */
import { Headers, Json, type TokenLabel } from '@svc-zerc20/protocol'
import type { PaywallProvider } from '@x402/core/server'
import type { PaymentRequired } from '@x402/core/types'
import type { PaywallLook } from '../paywall/look.js'
import { createPaywall, type Page, type Paywall } from '../paywall/page.js'
import type { Explanation } from '../refusal.js'

/** The pages of a gate. A provider of the seller's own has none for answers without an offer. */
export type Pages = Pick<Paywall, 'offer'> & Partial<Paywall>

export type PaywallOption = PaywallLook | PaywallProvider | 'none'

export function openPages(
  option: PaywallOption = {},
  tokenLabel: () => TokenLabel | undefined,
): Pages | undefined {
  if (option === 'none') return undefined
  if (!('generateHtml' in option)) return createPaywall(option, tokenLabel)
  const headers = { 'content-type': 'text/html; charset=utf-8' }
  return { offer: (required) => ({ html: option.generateHtml(required as PaymentRequired), headers }) }
}

type Answered = {
  readonly status: number
  readonly headers: Record<string, string>
  readonly body?: unknown
}

/** A browser that opens an address asks for HTML. A request with a payment comes from a program. */
export const isForPerson = (header: (name: string) => string | undefined): boolean =>
  header('accept')?.includes('text/html') === true && header(Headers.paymentSignature) === undefined

/** The answer as a page, or as it is where there is no page for it. */
export function forPerson<Answer extends Answered>(
  answer: Answer,
  pages: Pages | undefined,
): Answer | (Answered & { readonly body: string; readonly isHtml: true }) {
  const page = pages && pageOf(answer, pages)
  if (page === undefined) return answer
  const { 'Content-Type': _, 'content-type': __, ...headers } = answer.headers
  return { status: answer.status, headers: { ...headers, ...page.headers }, body: page.html, isHtml: true }
}

function pageOf({ headers, body }: Answered, pages: Pages): Page | undefined {
  const required = Headers.decode(headers[Headers.paymentRequired])
  if (required.ok && Json.isObject(required.value)) return pages.offer(required.value)
  return Json.isObject(body) ? pages.refusal?.(body as Explanation) : undefined
}
