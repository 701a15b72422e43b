/** Presents a payment, and tells what the answer means for it. */
import { decode, type Required } from './payment.js'

/** Reasons after which a payment will never be taken. The build fills them in from the protocol's table. */
declare const REASONS_AT_AN_END: string

/** The official middleware's words for a payment that is for no offer of this address. */
const noMatch = ['offer_mismatch', 'No matching payment requirements']
const atAnEnd = [...REASONS_AT_AN_END.split(' '), ...noMatch]

const answerMsMax = 60_000

const unreachable = 'The seller cannot be reached right now.'

export type Verdict = Delivered | Again | Over

export type Delivered = {
  readonly kind: 'delivered'
  readonly answer: Response
  readonly transaction: string
}
/** The same payment may be taken later. */
export type Again = Told & { readonly kind: 'again'; readonly waitMs: number }
/** This payment will not be taken, or was used. */
export type Over = Told & { readonly kind: 'over'; readonly required: Required | undefined }

type Told = { readonly reason: string; readonly text: string; readonly transaction: string }
type Explanation = { reason?: string; error?: string; action?: string; transaction?: string }
type Settled = { success?: boolean; errorReason?: string; transaction?: string }

/** No answer, or a part of one. The server keeps what it gave, so the same payment gets it. */
export const brokeOff: Again = { kind: 'again', reason: '', text: unreachable, transaction: '', waitMs: 0 }

/** Asks for the address of this page, past every cache. */
export const ask = (how: RequestInit): Promise<Response> =>
  fetch(location.href, { cache: 'no-store', ...how })

const requiredIn = ({ headers }: Response) => decode<Required>(headers.get('PAYMENT-REQUIRED'))

export async function present(header: string): Promise<Verdict> {
  let answer: Response
  // For the answer to begin. What was bought may take as long as it takes.
  const patience = new AbortController()
  const timer = setTimeout(() => patience.abort(), answerMsMax)
  try {
    answer = await ask({
      headers: { 'PAYMENT-SIGNATURE': header },
      redirect: 'manual',
      signal: patience.signal,
    })
  } catch {
    return brokeOff
  } finally {
    clearTimeout(timer)
  }
  const settled = decode<Settled>(answer.headers.get('PAYMENT-RESPONSE'))
  const transaction = String(settled?.transaction ?? '')
  if (answer.ok || answer.type === 'opaqueredirect') return { kind: 'delivered', answer, transaction }
  const required = requiredIn(answer)
  const told = { transaction, ...(await explanationOf(answer, settled?.errorReason ?? required?.error)) }
  if (atAnEnd.includes(told.reason)) {
    return { kind: 'over', required, ...told, text: `${told.text} ${told.action}` }
  }
  return { kind: 'again', waitMs: 1000 * Number(answer.headers.get('retry-after')) || 0, ...told }
}

/** Gets a new offer, or the words of the answer that came instead. */
export async function askForOffer(): Promise<Required | { readonly text: string } | 'free'> {
  try {
    const answer = await ask({ headers: { accept: 'application/json' } })
    if (answer.ok) return 'free'
    return requiredIn(answer) ?? { text: (await explanationOf(answer, undefined)).text }
  } catch {
    return { text: unreachable }
  }
}

/** Our servers explain themselves in the body; the official middleware puts `code: words` into a header. */
async function explanationOf(
  answer: Response,
  said = '',
): Promise<{ reason: string; text: string; action: string; transaction?: string }> {
  const body: Explanation | undefined = await answer.json().catch(() => undefined)
  const { reason, error, action, transaction } = body ?? {}
  return {
    reason: String(reason ?? (noMatch.includes(said) ? said : said.split(':')[0])),
    text: String(error ?? (said || `The seller answered with status ${answer.status}.`)),
    action: String(action ?? ''),
    ...(transaction && { transaction: String(transaction) }),
  }
}
