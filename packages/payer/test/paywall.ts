import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { permitBurnerAbi, tokenAbi } from '@svc-zerc20/contracts'
import { Headers, Payload } from '@svc-zerc20/protocol'
import type { PaymentPayload, PaymentRequirements } from '@x402/core/types'
import { createWalletClient, type Hex, http } from 'viem'
import type { TestNetwork } from './network.js'
import { type OfferChanges, offerAt, randomHex } from './offers.js'

/**
 * What the seller does with a presented payment:
 * - `serve`: burns if need be and serves
 * - `break`: burns if need be and breaks the connection before answering
 * - a status: answers it without taking the payment
 * - a reason: answers a failed settle with it
 * - a promise: waits for it, then serves
 */
export type Step =
  | 'serve'
  | 'break'
  | number
  | { readonly reason: string; readonly burn?: boolean }
  | { readonly after: Promise<unknown> }

/**
 * The smallest seller that takes real payments: it burns permits on the chain, looks up transfers, and grants
 * each challenge once. It is its own facilitator, so that the payer is tested against nothing but the wire.
 */
export async function startPaywall(
  network: TestNetwork,
  options: { offer?: OfferChanges | ((count: number) => OfferChanges); steps?: Step[] } = {},
) {
  const { token: asset, helper, client } = network
  const wallet = createWalletClient({ account: network.relayer, transport: http(network.rpcUrl) })
  const steps = [...(options.steps ?? [])]
  const offers: PaymentRequirements[] = []
  const presented: { header: string; payment: PaymentPayload; host: string | undefined }[] = []
  const burns = new Map<string, Hex>()
  const granted = new Set<string>()

  function newOffer(): PaymentRequirements {
    const { offer } = options
    const { extra, ...changes } = (typeof offer === 'function' ? offer(offers.length) : offer) ?? {}
    const challengeNonce = randomHex(32)
    const payTo = randomHex(20)
    return offerAt(Math.floor(Date.now() / 1_000), {
      asset,
      payTo,
      ...changes,
      extra: { challengeNonce, helper, ...extra },
    })
  }

  /** Asks for the receipt itself: a watcher of block numbers misses a block that came before it looked. */
  async function mined(hash: Hex): Promise<void> {
    for (;;) {
      const receipt = await client.getTransactionReceipt({ hash }).catch(() => undefined)
      if (receipt) return
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }

  async function burn({ accepted, payload: raw }: PaymentPayload): Promise<Hex> {
    const payload = Payload.parse(raw)
    if (!payload.ok) throw new Error(payload.reason)
    const { value } = payload
    const known = burns.get(value.challengeNonce)
    if (known) return known
    if (value.kind === 'self-transfer') {
      const receipt = await client.getTransactionReceipt({ hash: value.burnTxHash })
      if (receipt.status !== 'success') throw new Error('burn_reverted')
      return value.burnTxHash
    }
    if ((await network.permitNonce(value.payer)) !== value.permit.nonce) throw new Error('permit_nonce_stale')
    const hash = await burnByPermit(accepted, value)
    burns.set(value.challengeNonce, hash)
    return hash
  }

  async function burnByPermit(accepted: PaymentRequirements, payload: Payload.PermitPayload): Promise<Hex> {
    const { payer, permit, challengeNonce, burnAuthSig } = payload
    const { v, r, s, value: amount, deadline } = permit
    const authorization = {
      token: accepted.asset as Hex,
      payer,
      burnAddress: accepted.payTo as Hex,
      value: amount,
      challengeNonce,
      deadline,
    }
    const hash = await wallet.writeContract({
      chain: null,
      address: accepted.extra.helper as Hex,
      abi: permitBurnerAbi,
      functionName: 'burn',
      args: [{ authorization, v, r, s, burnAuthSig }],
    })
    await mined(hash)
    return hash
  }

  /** Does with the signatures of a presented payment what anybody can who has them, whatever was answered to it. */
  async function misuse(count: number, what: 'permit' | 'burn'): Promise<void> {
    const payment = presented[count]?.payment
    const parsed = Payload.parse(payment?.payload)
    if (!payment || !parsed.ok || parsed.value.kind !== 'permit') throw new Error('no permit was presented')
    if (what === 'burn') return void (await burnByPermit(payment.accepted, parsed.value))
    const { value, deadline, v, r, s } = parsed.value.permit
    const args = [parsed.value.payer, helper, value, deadline, v, r, s] as const
    const call = { address: asset, abi: tokenAbi, functionName: 'permit', args } as const
    await mined(await wallet.writeContract({ chain: null, ...call }))
  }

  const settled = (response: ServerResponse, status: number, settle: object) =>
    response
      .writeHead(status, {
        [Headers.paymentResponse]: Headers.encode({ network: network.network, ...settle }),
      })
      .end(status === 200 ? 'the resource' : '{}')

  async function take(
    payment: PaymentPayload,
    step: Step,
    request: IncomingMessage,
    response: ServerResponse,
  ) {
    if (typeof step === 'number') return response.writeHead(step).end('no')
    const nonce = String(payment.payload.challengeNonce)
    if (granted.has(nonce)) {
      return settled(response, 402, { success: false, errorReason: 'already_accepted', transaction: '' })
    }
    if (typeof step === 'object' && 'after' in step) await step.after
    else if (typeof step === 'object') {
      const transaction = step.burn ? await burn(payment) : ''
      return settled(response, 402, { success: false, errorReason: step.reason, transaction })
    }
    const transaction = await burn(payment)
    if (step === 'break') return request.socket.destroy()
    granted.add(nonce)
    return settled(response, 200, { success: true, transaction, extra: { phase: 'accepted' } })
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
    const header = request.headers['payment-signature']
    if (typeof header !== 'string') {
      const offer = newOffer()
      offers.push(offer)
      const resource = { url: `http://${request.headers.host}${request.url}`, description: '', mimeType: '' }
      const required = { x402Version: 2, error: 'Payment required', resource, accepts: [offer] }
      return response.writeHead(402, { [Headers.paymentRequired]: Headers.encode(required) }).end('{}')
    }
    const decoded = Headers.decode(header)
    if (!decoded.ok) return response.writeHead(400).end()
    const payment = decoded.value as PaymentPayload
    presented.push({ header, payment, host: request.headers.host })
    return take(payment, steps.shift() ?? 'serve', request, response)
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: Error) =>
      settled(response, 402, { success: false, errorReason: error.message, transaction: '' }),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/thing`,
    offers,
    presented,
    burns,
    misuse,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
