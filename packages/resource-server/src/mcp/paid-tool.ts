/**
 * A paid MCP tool: the x402 MCP transport (tool-result binding) around a handler. Types are structural, so
 * any MCP SDK whose handlers take `(args, extra)` fits.
 */
import { Json } from '@svc-zerc20/protocol'
import { resolvePaymentFlowPhases, type x402ResourceServer } from '@x402/core/server'
import type { PaymentPayload, PaymentRequirements, ResourceInfo, SettleResponse } from '@x402/core/types'
import { refusalOf } from '../facilitator/client.js'
import { explain, paymentOwed, paymentUnderWay } from '../refusal.js'
import { isFinal } from '../scheme/resettle.js'
import { type Begun, type Presentation, unkept } from '../served/served.js'
import { SvcMcpServer } from './server.js'

export const paymentMeta = 'x402/payment'
export const paymentResponseMeta = 'x402/payment-response'

export type ToolContent = { readonly type: string; readonly [key: string]: unknown }
export type ToolResult = {
  readonly content: readonly ToolContent[]
  readonly structuredContent?: unknown
  readonly isError?: boolean
  readonly _meta?: Json.JsonObject
}
export type ToolExtra = {
  readonly _meta?: Json.JsonObject | undefined
  /** Aborts when the client has cancelled the call. */
  readonly signal?: AbortSignal | undefined
}
export type ToolHandler<Args, Extra> = (args: Args, extra: Extra) => ToolResult | Promise<ToolResult>

export type PaidToolOptions<Args, Extra> = {
  readonly server: x402ResourceServer
  /** Static entries. Make those of our scheme with `SvcMcpServer.accept`. */
  readonly accepts: readonly PaymentRequirements[]
  /** Describes the resource to the payer. */
  readonly resource: ResourceInfo
  readonly handler: ToolHandler<Args, Extra>
}

/** Wraps a tool handler: unpaid calls get PaymentRequired, paid ones verify, run and settle. */
export function paidTool<Args, Extra extends ToolExtra>(
  options: PaidToolOptions<Args, Extra>,
): (args: Args, extra: Extra) => Promise<ToolResult> {
  const { server, resource, handler } = options
  const accepts = [...options.accepts]
  const demand = async (error: string): Promise<ToolResult> => {
    const required = await server.createPaymentRequiredResponse(accepts, resource, error)
    const text = JSON.stringify(required)
    return { isError: true, structuredContent: JSON.parse(text), content: [{ type: 'text', text }] }
  }
  // While the same payload may still be accepted, no offer is shown, so that the payer does not pay again.
  const refuse = async (refusal: SettleResponse): Promise<ToolResult> => {
    const reason = refusal.errorReason ?? 'settle_failed'
    if (isFinal(refusal)) return withReceipt(await demand(reason), refusal)
    const { errorMessage: message, transaction } = refusal
    const text = JSON.stringify(explain({ reason, message, transaction }))
    return withReceipt({ isError: true, content: [{ type: 'text', text }] }, refusal)
  }

  /** Verifies, runs and settles. Tells when the payment is accepted: from then on the result is the payer's. */
  async function sell(
    { payment, known, args, extra, owed }: Sale<Args, Extra>,
    accepted: (beforeHandler?: SettleResponse) => Promise<void>,
  ): Promise<ToolResult> {
    if (owed !== undefined) {
      await accepted()
      return withReceipt(await handler(args, extra), owed)
    }
    const offer = server.findMatchingRequirements(known, payment)
    if (offer === undefined) return demand('No matching payment requirements')
    const verified = await server.verifyPayment(payment, offer)
    if (!verified.isValid) return demand(verified.invalidReason ?? 'invalid payment')

    const phases = resolvePaymentFlowPhases(server.getPaymentFlow(payment, offer))
    let receipt: SettleResponse | undefined
    if (phases.settleBeforeHandler) {
      receipt = await settle(server, payment, offer, 'before-handler')
      if (!receipt.success) return refuse(receipt)
      await accepted(receipt)
    }
    const result = await handler(args, extra)
    if (result.isError !== true && phases.settleAfterHandler) {
      receipt = await settle(server, payment, offer, 'after-handler')
      if (!receipt.success) return refuse(receipt)
      await accepted()
    }
    return receipt === undefined ? result : withReceipt(result, receipt)
  }

  return async (args, extra) => {
    const payment = readPayment(extra)
    if (payment === undefined) return demand('Payment required')
    const { accepts: known } = await server.createPaymentRequiredResponse(accepts, resource)
    const begun = await beginPresentation(server, payment, known, JSON.stringify([resource.url, args]))
    if (typeof begun === 'string') {
      const words = begun === 'busy' ? paymentUnderWay : paymentOwed
      return { isError: true, content: [{ type: 'text', text: JSON.stringify(words) }] }
    }
    if ('kept' in begun) return JSON.parse(Buffer.from(begun.kept.body).toString('utf8')) as ToolResult
    const { presentation, owed } = begun
    return during(presentation, extra.signal, (accepted) =>
      sell({ payment, known, args, extra, owed }, accepted),
    )
  }
}

type Sale<Args, Extra> = {
  readonly payment: PaymentPayload
  readonly known: PaymentRequirements[]
  readonly args: Args
  readonly extra: Extra
  /** The receipt of a payment that was accepted before, and whose handler failed. */
  readonly owed: SettleResponse | undefined
}

/** Offers of our scheme have a seal, so nobody else can present them. */
async function beginPresentation(
  server: x402ResourceServer,
  payment: PaymentPayload,
  known: readonly PaymentRequirements[],
  resource: string,
): Promise<Begun> {
  const offer = server instanceof SvcMcpServer ? server.unseal(known, payment) : undefined
  if (offer === undefined) return { presentation: unkept }
  const challengeNonce = String(offer.extra.challengeNonce)
  return (server as SvcMcpServer).served.begin({ challengeNonce, payment: JSON.stringify(payment), resource })
}

/** Keeps what an accepted payment bought before it goes out: the same payment gets the same again. */
async function during(
  presentation: Presentation,
  signal: AbortSignal | undefined,
  sell: (accepted: (beforeHandler?: SettleResponse) => Promise<void>) => Promise<ToolResult>,
): Promise<ToolResult> {
  let isAccepted = false
  const abandon = () => presentation.abandon(() => isAccepted)
  signal?.addEventListener('abort', abandon, { once: true })
  try {
    const result = await sell(async (beforeHandler) => {
      isAccepted = true
      if (beforeHandler !== undefined) await presentation.accept(beforeHandler)
    })
    const body = Buffer.from(JSON.stringify(result))
    const status = result.isError === true ? 500 : 200
    if (isAccepted) await presentation.end({ status, headers: [], body })
    return result
  } finally {
    signal?.removeEventListener('abort', abandon)
    await presentation.end()
  }
}

type SettlePhase = 'before-handler' | 'after-handler'

// Returns a refusal whether the server returned or threw it. An error without a verdict is thrown on, so that the
// caller learns that the outcome is unknown and calls again with the same payment.
async function settle(
  server: x402ResourceServer,
  payment: PaymentPayload,
  offer: PaymentRequirements,
  phase: SettlePhase,
): Promise<SettleResponse> {
  try {
    return await server.settlePayment(payment, offer, undefined, undefined, undefined, phase)
  } catch (error) {
    const refusal = refusalOf(error)
    if (refusal === undefined) throw error
    return refusal
  }
}

const withReceipt = (result: ToolResult, receipt: SettleResponse): ToolResult => ({
  ...result,
  _meta: { ...result._meta, [paymentResponseMeta]: receipt },
})

function readPayment(extra: ToolExtra): PaymentPayload | undefined {
  const payment = extra?._meta?.[paymentMeta]
  const isPayment = Json.isObject(payment) && Json.nestsWithin(payment) && Json.isObject(payment.accepted)
  // Only version 2 exists here; the official server throws on a version it does not know.
  return isPayment && payment.x402Version === 2 ? (payment as unknown as PaymentPayload) : undefined
}
