/** From a request to the resource: the 402, the payment, the answer. */
import { open, readFile } from 'node:fs/promises'
import { type ChallengeNonce, Headers, type Offer, SvcError, type TxHash } from '@svc-zerc20/protocol'
import { withBody } from '../delivery/bounded-body.js'
import { createDelivery, type Delivery, headerOf, type Presented } from '../delivery/delivery.js'
import { purchaseKey } from '../delivery/unpaid-request.js'
import { endOf, endUnpaid, isServed, judgeAnswer, readAnswer } from '../outcome.js'
import { afterSigning, PayerError } from '../payer-error.js'
import type { ApprovalRequest } from '../policy/approval.js'
import type { Bounds } from '../policy/purchase.js'
import { burnIn } from '../signing/deliveries.js'
import type { PayerScheme } from '../signing/scheme.js'
import { type KeptAnswer, type KeptAnswers, readAnswerTo } from '../state/kept-answers.js'
import type { PaymentRecord } from '../state/payments.js'
import type { Bought, Payment, PayStep } from './bought.js'
import { cheapestOf, type Quote, type QuotedOffer, quoteOf } from './quote.js'
import { createRunningPurchases } from './running-purchases.js'

/** The limits hold for whatever is signed, a payment that an earlier request began included. */
export type PayOptions = Pick<Bounds, 'max' | 'asQuoted'> & {
  /** Called at each step of the purchase. What it throws changes nothing. */
  readonly onStep?: ((step: PayStep) => void) | undefined
}

export type BuyOptions = PayOptions & {
  /** For a caller that hands on no more: only the beginning of a bought answer is held in memory, all of it on the disk. */
  readonly heldBytesMax?: number | undefined
}

export type BuyerPorts = {
  readonly scheme: PayerScheme
  readonly fetch: typeof globalThis.fetch
  /** Undefined: answers are kept nowhere, and a lost one is asked for again. */
  readonly kept: KeptAnswers | undefined
}

export type Buyer = {
  buy(request: Request, options: BuyOptions): Promise<Bought>
  /** The answer of a stored payment: kept, or asked for again. Signs nothing. Undefined when the payment is over. */
  resume(record: PaymentRecord): Promise<Bought | undefined>
}

export function createBuyer({ scheme: payer, fetch, kept }: BuyerPorts): Buyer {
  const { deliveries } = payer
  const running = createRunningPurchases()

  /** The parts of one purchase, which signs nothing beyond its bounds. */
  function partsWithin(bounds: Bounds, heldBytesMax?: number) {
    const scheme = payer.within(bounds)
    const delivery = createDelivery(fetch, scheme)
    return { scheme, delivery, takeIn: createTakeIn(delivery, kept, scheme, heldBytesMax) }
  }
  type Parts = ReturnType<typeof partsWithin>

  /** Presents a stored payment, unless its answer is here already. */
  async function presentStored({ scheme, delivery, takeIn }: Parts, request: Request, record: PaymentRecord) {
    const answer = await kept?.find(record.challengeNonce)
    const whole = answer?.isComplete ? await takeIn.kept(record, answer) : undefined
    if (whole) return whole
    try {
      const presented = await delivery.presentStored(request, record, !scheme.bounds.isOnlyStored)
      return 'response' in presented ? await takeIn.coming(presented, true) : presented
    } catch (error) {
      throw answer && error instanceof PayerError ? withHalf(error, answer) : error
    }
  }

  /** Asks for an offer, and pays for it. */
  async function buyNew(
    { scheme, delivery, takeIn }: Parts,
    request: Request,
    key: string,
    instead: ChallengeNonce | undefined,
    onStep: (step: PayStep) => void,
  ) {
    const paid = unstoppable(request.clone())
    const first = await delivery.ask(request, instead)
    if (first.status !== 402) {
      return { response: first, payment: undefined, end: endUnpaid(first.status), ...nothingToKeep }
    }
    const quote = await quoteOf(request, first, scheme)
    const chosen = choose(quote)
    onStep({ step: 'offered', quote, chosen })
    const { accepted, offer } = chosen
    const { challengeNonce } = offer
    const header = await headerOf(scheme, { ...deliveries.originOf(challengeNonce), accepted })
    onStep({ step: 'presenting', challengeNonce })
    const record = await deliveries.presenting(challengeNonce, key, header)
    if (record === undefined) {
      const what = `challenge ${challengeNonce}`
      throw afterSigning(new PayerError('state_unusable', `${what} is gone`), what, burnIn(header))
    }
    return takeIn.coming(await delivery.presentNew(paid, record, header), false)
  }

  return {
    async buy(request, { max, asQuoted, heldBytesMax, onStep = () => undefined }) {
      if (request.headers.has(Headers.paymentSignature)) {
        throw new SvcError('payer_misconfigured', 'the request carries a payment already')
      }
      const key = await purchaseKey(request)
      return running.run(callKey(key, request), { request, onStep }, async ({ signal, onStep }) => {
        const bounds = {
          max,
          asQuoted,
          signal,
          onAsking: (request: ApprovalRequest) => onStep({ step: 'approving', request }),
          onSigning: () => onStep({ step: 'signing' }),
        }
        const parts = partsWithin(bounds, heldBytesMax)
        let instead: ChallengeNonce | undefined
        while (instead === undefined) {
          const stored = await deliveries.claim(key)
          if (stored === undefined) break
          onStep({ step: 'resuming', record: stored })
          const outcome = await presentStored(parts, unstoppable(request.clone()), stored)
          if ('response' in outcome) return outcome
          onStep({ step: 'asking' })
          instead = outcome.instead
        }
        return buyNew(parts, request, key, instead, onStep)
      })
    },

    async resume(record) {
      const taken = await deliveries.take(record.challengeNonce)
      if (taken === undefined) throw new PayerError('payment_pending', 'another process is at it')
      const [method = '', url = ''] = (taken.request ?? '').split(' ')
      const outcome = await presentStored(
        partsWithin({ isOnlyStored: true }),
        new Request(url, { method }),
        taken,
      )
      return 'response' in outcome ? outcome : undefined
    },
  }
}

/** What makes two calls the same: a caller with other headers may be another user, and gets an answer of its own. */
const callKey = (key: string, { headers }: Request) => `${key} ${JSON.stringify([...headers])}`

/** A request that carries a payment does not end with its caller: the answer is paid for. Its own bounds end it. */
const unstoppable = (request: Request) => new Request(request, { signal: null })

const nothingToKeep = { handedOver: async () => undefined, keepForLater: async () => false }

/** Takes answers in: as a whole, and to the disk, before anybody gets them. */
function createTakeIn(
  delivery: Delivery,
  kept: KeptAnswers | undefined,
  { burns }: PayerScheme,
  heldBytesMax: number | undefined,
) {
  const bought = (
    presented: Presented,
    isResumed: boolean,
    body: Blob | undefined,
    isKept: boolean,
  ): Bought => {
    const { record, response, outcome, burn } = presented
    const { challengeNonce } = record
    return {
      response: body && response.body ? withBody(response, body) : response,
      payment: paymentOf(record.accepted, burn, isResumed),
      end: endOf(outcome),
      async handedOver({ isCut = false } = {}) {
        await delivery.ended(presented, outcome)
        if (isKept && !isCut) await kept?.drop(challengeNonce).catch(() => undefined)
      },
      async keepForLater() {
        await delivery.ended(presented, 'kept')
        return isKept
      },
    }
  }

  return {
    /** An answer that the seller begins to send. */
    async coming(presented: Presented, isResumed: boolean): Promise<Bought> {
      const { response, answer, outcome, record } = presented
      if (!isServed(outcome)) {
        const payment = paymentOf(record.accepted, presented.burn, isResumed)
        return { response, payment, end: endOf(outcome), ...nothingToKeep }
      }
      if (response.body === null) return bought(presented, isResumed, undefined, false)
      const { challengeNonce } = record
      // The chain is asked while the body comes, so that the goods wait for it as little as can be.
      const looked = burns.burnOf(record, answer.settleResponse?.transaction)
      const { pieces, bytes, broken, isKept } = kept
        ? await kept.keep(challengeNonce, response, heldBytesMax)
        : { ...(await readAnswerTo(response, () => undefined, heldBytesMax)), isKept: false }
      const burn = await looked
      const ending = judgeAnswer(answer, { isComplete: broken === undefined })
      if (ending === 'half') {
        await delivery.ended({ ...presented, burn }, ending)
        throw halfError(challengeNonce, bytes, broken, burn)
      }
      return bought({ ...presented, burn }, isResumed, new Blob(pieces), isKept)
    },

    /** An answer that is on the disk already. Undefined if it cannot be read. */
    async kept(record: PaymentRecord, { path, status, headers }: KeptAnswer): Promise<Bought | undefined> {
      const body = await readStart(path, heldBytesMax).catch(() => undefined)
      if (body === undefined) return undefined
      const response = new Response(body, { status, headers: headers.map(([name, value]) => [name, value]) })
      const answer = readAnswer(response)
      const burn = await burns.burnOf(record, answer.settleResponse?.transaction)
      return bought({ response, record, answer, outcome: judgeAnswer(answer), burn }, true, undefined, true)
    },
  }
}

/** A file, or its beginning. */
async function readStart(path: string, bytesMax: number | undefined): Promise<Buffer<ArrayBuffer>> {
  if (bytesMax === undefined) return readFile(path)
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(bytesMax), 0, bytesMax, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

function halfError(
  challengeNonce: ChallengeNonce,
  bytes: number,
  broken: Error | undefined,
  burnTxHash: TxHash | undefined,
): PayerError {
  const why = broken instanceof PayerError ? `${broken.code}: ${broken.detail}` : broken?.message
  const detail = `challenge ${challengeNonce}: ${bytes} bytes came, then ${why}`
  return new PayerError('answer_half', detail, { cause: broken, burnTxHash })
}

/** The error of a payment that is over, with word of the part of its answer that came before. */
function withHalf(error: PayerError, { bytes }: KeptAnswer): PayerError {
  const { code, detail, reason, burnTxHash, todo, cause } = error
  const half = `${bytes} bytes of its answer came before and are kept; svc-pay resume writes them to a file`
  return new PayerError(code, `${detail}; ${half}`, { reason, burnTxHash, todo, cause })
}

/** The cheapest allowed offer. If all are refused, the first one: its refusal becomes the error. */
function choose(quote: Quote): QuotedOffer {
  const { offers, otherSchemes, url } = quote
  const chosen = cheapestOf(quote) ?? offers[0]
  if (chosen) return chosen
  const others = otherSchemes.length > 0 ? otherSchemes.slice(0, 10).join(', ') : 'nothing'
  throw new PayerError('not_offered', `${url} offers ${others}`)
}

function paymentOf(
  accepted: Offer.PaymentRequirements,
  transaction: TxHash | undefined,
  isResumed: boolean,
): Payment {
  const { network, asset, amount, extra } = accepted
  return {
    challengeNonce: extra.challengeNonce as ChallengeNonce,
    network,
    token: asset,
    amount,
    fee: extra.fee?.amount,
    transaction,
    isResumed,
  }
}
