/** Presents payments to sellers and judges their answers, beneath official clients and beneath our own purchases. */
import { type ChallengeNonce, Headers, Offer, reasons, type TxHash, unixSeconds } from '@svc-zerc20/protocol'
import {
  type Answer,
  endOf,
  isServed,
  judgeAnswer,
  type Outcome,
  outcomes,
  readAnswer,
  refusalOf,
} from '../outcome.js'
import { afterSigning, PayerError } from '../payer-error.js'
import { bodyOf } from '../policy/purchase.js'
import { printable } from '../printable.js'
import type { Ended } from '../signing/deliveries.js'
import { mayStillBurn } from '../signing/make-payload.js'
import type { PayerScheme } from '../signing/scheme.js'
import type { BurnVerdict } from '../state/burn-verdict.js'
import { isSigned, type PaymentRecord } from '../state/payments.js'
import { createExchange, type Exchange } from './exchange.js'
import { isRedirect, requestAt } from './redirects.js'
import { createUnpaidRequest } from './unpaid-request.js'

/** A payment and the answer to it. */
export type Presented = {
  readonly response: Response
  readonly record: PaymentRecord
  readonly answer: Answer
  /** Of a served answer: what its head says. The body is still to be read. */
  readonly outcome: Outcome
  /** Our own transfer. Of an answer that is not served also the burn that the seller names, if the chain has it. */
  readonly burn: TxHash | undefined
}

/** A stored payment bought nothing, and a fresh one may be made. */
export type PayAnew = {
  /** The stored transfer may still burn: the fresh one must take its seat, so that only one of them can. */
  readonly instead: ChallengeNonce | undefined
}

export type Delivery = {
  /** The answer to a request without a payment. What is offered there may be paid instead of an earlier payment. */
  ask(request: Request, instead?: ChallengeNonce): Promise<Response>
  /**
   * The answer to a payment that was just made. Throws unless the resource comes, or an error that is neither a 402 nor a
   * redirect. The end of a served answer is for the caller to note, by `ended`.
   */
  presentNew(request: Request, record: PaymentRecord, header: string): Promise<Presented>
  /** The answer to a stored payment. Throws as `presentNew` does. Otherwise a fresh one may be made. */
  presentStored(request: Request, record: PaymentRecord, maySign: boolean): Promise<Presented | PayAnew>
  /** Notes how a served answer ended. */
  ended(presented: Presented, outcome: Outcome): Promise<void>
  readonly exchange: Exchange
}

export function createDelivery(fetch: typeof globalThis.fetch, payer: PayerScheme): Delivery {
  const { deliveries, guard, burns, limits, clock } = payer
  const exchange = createExchange({ fetch, checkUrl: guard.checkUrl, clock, limits })
  const send = createSend(payer, exchange)

  /**
   * Notes the end of a presentation. A state folder that fails by now must not cost the answer: the payment then stays
   * open there, and is presented again by the next request.
   */
  const note = ({ record, answer, burn }: Omit<Presented, 'response' | 'outcome'>, outcome: Outcome) =>
    deliveries
      .ended(record.challengeNonce, outcome, { status: answer.status, transaction: burn })
      .catch((): Ended => ({ next: 'done', verdict: { state: 'unknown' } }))

  /**
   * Presents a payment until its answer is final, or the resource begins to come. The verdict is on the burn of one that was
   * refused.
   */
  async function present(
    request: Request,
    record: PaymentRecord,
    firstHeader: string,
    maySign: boolean,
  ): Promise<Judged> {
    for (let header = firstHeader; ; ) {
      const response = await send(request, record, header)
      const answer = readAnswer(response)
      const judged = judgeAnswer(answer)
      // Without leave to sign, the payment waits for somebody who has it.
      const outcome = judged === 'sign_again' && !maySign ? 'unknown' : judged
      // The body comes first: what has arrived of it would be lost with the connection.
      if (isServed(outcome)) {
        return { response, record, answer, outcome, burn: record.burn?.hash, verdict: { state: 'unknown' } }
      }
      const burn = await burns.burnOf(record, answer.settleResponse?.transaction)
      const presented = { response, record, answer, outcome, burn }
      const { next, verdict } = await note(presented, outcome)
      if (next === 'done') return { ...presented, verdict }
      response.body?.cancel().catch(() => undefined)
      if (next === 'sign_again') header = await signedAgain({ ...presented, verdict })
      else await clock.sleep(limits.resendDelayMs, request.signal)
    }
  }

  async function signedAgain(presented: Judged): Promise<string> {
    const { header: _, payload: __, ...unsigned } = presented.record
    try {
      const header = await headerOf(payer, unsigned)
      await deliveries.presenting(unsigned.challengeNonce, unsigned.request ?? '', header)
      return header
    } catch (cause) {
      throw refusalError(judged(presented), { cause })
    }
  }

  const presentStored = createPresentStored(payer, present, note)

  return {
    exchange,
    ask: createUnpaidRequest({ exchange, deliveries, leavesTime: payer.leavesTime, limits }),

    presentNew: (request, record, header) =>
      orPending(request, record, async () => {
        const presented = await present(request, record, header, true)
        if (presented.response.status === 402) {
          const isRefused = endOf(presented.outcome) === 'failed'
          throw refusalError(isRefused ? judged(presented) : presented)
        }
        return withoutRedirect(request, presented)
      }),

    presentStored,

    async ended(presented, outcome) {
      await note(presented, outcome)
    },
  }
}

type Judged = Presented & Pick<Ended, 'verdict'>

/** Presents payments of earlier requests, and decides what follows where one bought nothing. */
function createPresentStored(
  payer: PayerScheme,
  present: (request: Request, record: PaymentRecord, header: string, maySign: boolean) => Promise<Judged>,
  note: (presented: Presented, outcome: Outcome) => Promise<Ended>,
): Delivery['presentStored'] {
  const { deliveries, burns, limits, clock } = payer

  /** Nothing can be presented for a payment: what becomes of its money decides. */
  async function withoutAnswer(
    request: Request,
    record: PaymentRecord,
    maySign: boolean,
    { state, seat }: BurnVerdict,
  ): Promise<Presented | PayAnew> {
    const { challengeNonce } = record
    if (state === 'unknown') {
      if (seat !== undefined && maySign) return { instead: challengeNonce }
      throw mayStillBurn(record)
    }
    if (state === 'burned') {
      // A transfer that was mined this very moment is presented by the next try.
      if (record.burn) throw mayStillBurn(record)
      await deliveries.over(challengeNonce)
      const paid = `challenge ${challengeNonce} expired${paidFor}`
      throw new PayerError('payment_refused', paid, { todo: todoAfter.paid })
    }
    const before = await deliveries.before(record)
    if (before) return presentStored(request, await deliveries.goBack(before, record), maySign)
    await deliveries.over(challengeNonce)
    return { instead: undefined }
  }

  async function presentOnce(
    request: Request,
    stored: PaymentRecord,
    maySign: boolean,
  ): Promise<Presented | PayAnew> {
    if (maySign) await tellBody(deliveries, request, stored)
    await checkHost(payer, stored)
    const before = await deliveries.before(stored)
    if (before && (await burns.verdictOf(before)).state === 'burned') {
      return presentStored(request, await deliveries.goBack(before, stored), maySign)
    }
    const ready = await readied(payer, stored)
    if (ready === undefined) {
      return withoutAnswer(request, stored, maySign, await burns.verdictOf(stored))
    }
    const { record } = ready
    const presented = await present(request, record, ready.header, maySign)
    const { response, outcome } = presented
    const end = endOf(outcome)
    // After the retention nobody remembers the payment, so it is surely over.
    const endsAt = record.accepted.extra.expiresAt + limits.retentionSeconds
    const isForgotten = end === 'pending' && endsAt <= unixSeconds(clock)
    if (end !== 'failed' && !isForgotten) {
      if (response.status === 402) throw refusalError(presented)
      return withoutRedirect(request, presented)
    }
    const refused = isForgotten
      ? { ...presented, outcome: 'refused' as const, verdict: (await note(presented, 'refused')).verdict }
      : presented
    // The caller decides whether to pay a second time for what was paid.
    if (refused.verdict.state === 'burned' || (outcome === 'used' && !stored.isTold)) {
      throw refusalError(judged(refused))
    }
    const { state, seat } = refused.verdict
    if (state === 'unknown' && (seat === undefined || !maySign)) throw refusalError(judged(refused))
    response.body?.cancel().catch(() => undefined)
    return withoutAnswer(request, record, maySign, refused.verdict)
  }

  const presentStored: Delivery['presentStored'] = (request, stored, maySign) =>
    orPending(request, stored, () => presentOnce(request, stored, maySign))

  return presentStored
}

/** A human who is asked about a signature sees the body that it pays for. The key of a payment holds the body's hash. */
async function tellBody(
  { offered }: Pick<PayerScheme['deliveries'], 'offered'>,
  asked: Request,
  { challengeNonce, request, target, echo }: PaymentRecord,
): Promise<void> {
  if (!request || !target || !echo) return
  await offered(challengeNonce, { request, target, echo, body: await bodyOf(asked) })
}

/** A payment for a host that is not allowed any more stays as it is: nothing is broadcast or presented for it. */
async function checkHost(
  { guard, deliveries }: Pick<PayerScheme, 'guard' | 'deliveries'>,
  record: PaymentRecord,
): Promise<void> {
  const { challengeNonce, target } = record
  if (target === undefined) return
  try {
    await guard.checkUrl(target.url)
  } catch (error) {
    await deliveries.ended(challengeNonce, 'unknown').catch(() => undefined)
    throw error
  }
}

/** Once something was signed for a payment, whatever else fails leaves it pending. A caller that left is told nothing. */
async function orPending<T>(request: Request, record: PaymentRecord, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (request.signal.aborted || !isSigned(record)) throw error
    throw afterSigning(error, `challenge ${record.challengeNonce}`, record.burn?.hash)
  }
}

type Ready = { readonly record: PaymentRecord; readonly header: string }

/** A stored payment with its header. Undefined when there is nothing to present. */
async function readied(payer: PayerScheme, record: PaymentRecord): Promise<Ready | undefined> {
  const { challengeNonce, request = '' } = record
  const isLate = record.accepted.extra.expiresAt <= unixSeconds(payer.clock)
  const isOutrun = isSigned(record) && !record.payload && !record.burn
  if (isLate && isOutrun) return undefined // it cannot be signed again
  try {
    const header = await headerOf(payer, record)
    if (header === record.header) return { record, header }
    // The next presentation sends the same bytes: a shop knows an answered payment by them.
    const signed = await payer.deliveries.presenting(challengeNonce, request, header)
    return { record: signed ?? record, header }
  } catch (error) {
    const code = error instanceof PayerError ? error.code : undefined
    if (code === 'burn_reverted' || code === 'burn_missed') return undefined
    if (isLate && code === 'burn_unconfirmed') return undefined
    // A process that was killed before it signed leaves a record of which nothing was sent.
    if (code === 'offer_expired' && !isSigned(record)) return undefined
    throw error
  }
}

/** Sends a payment to the URL that its offer came from. Without an answer the seller may still have taken it. */
function createSend({ deliveries }: Pick<PayerScheme, 'deliveries'>, exchange: Exchange) {
  return async (request: Request, record: PaymentRecord, header: string): Promise<Response> => {
    const paid = requestAt(request, record.target ?? { method: request.method, url: request.url })
    paid.headers.set(Headers.paymentSignature, header)
    try {
      return await exchange(paid)
    } catch (cause) {
      await deliveries.ended(record.challengeNonce, 'unknown').catch(() => undefined)
      if (request.signal.aborted) throw cause
      const why =
        cause instanceof PayerError ? cause.detail : `the connection broke (${(cause as Error).message})`
      throw new PayerError('payment_unanswered', `challenge ${record.challengeNonce}: ${why}`, {
        cause,
        burnTxHash: record.burn?.hash,
      })
    }
  }
}

/** The header that presents a payment: as it was sent before, or made of its payload. */
export async function headerOf(
  payer: Pick<PayerScheme, 'createPaymentPayload'>,
  { header, accepted, echo }: Pick<PaymentRecord, 'header' | 'accepted' | 'echo'>,
): Promise<string> {
  if (header !== undefined) return header
  const { payload } = await payer.createPaymentPayload(
    Offer.x402Version,
    accepted as Parameters<PayerScheme['createPaymentPayload']>[1],
  )
  return Headers.encode({ x402Version: Offer.x402Version, accepted, payload, ...echo })
}

/**
 * A bought redirect goes to the caller, who may follow it without the payment. Any other one leaves the payment to be
 * presented again.
 */
function withoutRedirect(request: Request, presented: Presented): Presented {
  const { response, outcome } = presented
  if (!isRedirect(response) || isServed(outcome) || request.redirect === 'manual') return presented
  response.body?.cancel().catch(() => undefined)
  throw refusalError(presented)
}

const saidCharsMax = 200

const todoAfter = {
  never: 'Do not repeat it as it is.',
  fresh_offer: 'Make the request again to pay a fresh offer.',
  same_payload: 'Make the same request again: this payment is presented first.',
  later: 'Make the same request again later: this payment is presented first.',
  open: 'Ask the seller. Making the request again pays again only once the chain tells of this burn.',
  paid: 'Ask the seller before you make the request again: that pays a second time.',
} as const

const paidFor = '; its burn is on the chain, so this was paid for'

/** A refused payment, with the outcome that follows from the verdict on its burn. */
function judged(presented: Judged): RefusedPayment {
  const { outcome, verdict } = presented
  const isPaid = verdict.state === 'burned'
  // Nobody knows, or the burn may still come.
  const isOpen = verdict.state === 'unknown'
  return { ...presented, isPaid, isOpen, outcome: isOpen && outcome !== 'used' ? 'unknown' : outcome }
}

/** The error for a payment that did not buy its answer. Only a burn that the chain has is named. */
function refusalError(
  { record, answer, outcome, burn, isPaid = false, isOpen = false }: RefusedPayment,
  { cause }: { readonly cause?: unknown } = {},
): PayerError {
  const { reason, said } = refusalOf(answer)
  const what = `challenge ${record.challengeNonce}`
  const code = outcomes[outcome] ?? 'payment_pending'
  const facts = { reason, burnTxHash: burn, cause }
  if (code === 'payment_used')
    return new PayerError(code, what, { ...facts, ...(isOpen && { todo: todoAfter.open }) })
  const after = reason && todoAfter[reasons[reason].retry]
  const todo = isPaid ? todoAfter.paid : code === 'payment_refused' ? after : undefined
  return new PayerError(code, `${what}: ${whyOf(answer, reason, said)}${isPaid ? paidFor : ''}`, {
    ...facts,
    todo,
  })
}

type RefusedPayment = {
  readonly record: PaymentRecord
  readonly answer: Answer
  readonly outcome: Outcome
  /** Our own transfer, or the burn that the seller names and the chain has. */
  readonly burn: TxHash | undefined
  /** Whether the chain has the burn, though it bought nothing. */
  readonly isPaid?: boolean
  /** Whether the chain does not tell, or the burn may still come: then nothing is paid anew. */
  readonly isOpen?: boolean
}

function whyOf({ status }: Answer, reason: ReturnType<typeof refusalOf>['reason'], said: string): string {
  if (reason) return `${reason}: ${withoutStop(reasons[reason].help)}`
  if (said !== '' || status === 402) return `the seller said "${printable(said, saidCharsMax)}"`
  return `the seller answered ${status}`
}

const withoutStop = (sentence: string) => sentence.replace(/\.$/, '')
