import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Headers } from '@svc-zerc20/protocol'
import type { PaymentRequirements } from '@x402/core/types'
import type { TestNetwork } from './network.js'
import { type OfferChanges, offerAt, randomHex } from './offers.js'

/** One request, and what a hostile seller has at hand to answer it. */
export type Exchange = {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Whether the request carries a payment. */
  readonly isPaid: boolean
  /** How many requests came before. */
  readonly count: number
  readonly origin: string
  /** A well-formed offer of the real token and helper, changed as the case wants it. */
  offer(changes?: OfferChanges): PaymentRequirements
  /** Answers 402 with these offers in the header. */
  demand(offers: unknown, x402Version?: number): ServerResponse
  /** Answers with a receipt. */
  settle(status: number, receipt: object): ServerResponse
}

export type Behaviour = (exchange: Exchange) => unknown

/** A server on loopback that does to its callers whatever the case says. */
export async function startHostileSeller(network: TestNetwork, behave: Behaviour) {
  const requests: IncomingMessage[] = []
  const server = createServer((request, response) => {
    const origin = `http://${request.headers.host}`
    const count = requests.push(request) - 1
    response.on('error', () => undefined)
    behave({
      request,
      response,
      count,
      origin,
      isPaid: request.headers['payment-signature'] !== undefined,
      offer: (changes = {}) => {
        const { extra, ...rest } = changes
        return offerAt(Math.floor(Date.now() / 1_000), {
          asset: network.token,
          payTo: randomHex(20),
          ...rest,
          extra: { challengeNonce: randomHex(32), helper: network.helper, ...extra },
        })
      },
      demand: (offers, x402Version = 2) => {
        const resource = { url: `${origin}${request.url}`, description: '', mimeType: '' }
        const accepts = Array.isArray(offers) ? offers : [offers]
        const required = Headers.encode({ x402Version, error: 'Payment required', resource, accepts })
        return response.writeHead(402, { [Headers.paymentRequired]: required }).end('{}')
      },
      settle: (status, receipt) => {
        const settled = Headers.encode({ network: network.network, transaction: '', ...receipt })
        return response.writeHead(status, { [Headers.paymentResponse]: settled }).end('{}')
      },
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/thing`,
    requests,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
