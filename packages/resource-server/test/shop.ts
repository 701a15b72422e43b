/** An express shop with the official middleware, and helpers that act as its payer. */
import type { AddressInfo } from 'node:net'
import { Headers } from '@svc-zerc20/protocol'
import type { FacilitatorClient } from '@x402/core/server'
import type { PaymentPayload, PaymentRequired, PaymentRequirements, SettleResponse } from '@x402/core/types'
import { paymentMiddleware, x402ResourceServer } from '@x402/express'
import express from 'express'
import { createSvcScheme, type SvcScheme, type SvcSchemeOptions } from '../src/index.js'
import { network, token } from './facilitator.js'

export const secret = 'a stable secret of the shop, 32 bytes or more'

export const schemeFor = (
  facilitatorUrl: string | readonly string[],
  options: Partial<SvcSchemeOptions> = {},
) => createSvcScheme({ facilitatorUrl, network, token, secret, ...options })

type Routes = Parameters<typeof paymentMiddleware>[0]
export type Shop = Awaited<ReturnType<typeof openShop>>

export async function openShop(
  svc: SvcScheme,
  routes: Routes,
  otherClients: FacilitatorClient[] = [],
  configure: (server: x402ResourceServer) => unknown = () => {},
) {
  let served = 0
  const server = new x402ResourceServer([svc.facilitatorClient, ...otherClients])
  configure(server.register(svc.network, svc))
  const app = express().use(paymentMiddleware(routes, server))
  app.get('/fails', (_request, response) => {
    served += 1
    response.status(500).json({ error: 'out of stock' })
  })
  app.all('/*path', (request, response) => {
    served += 1
    response.json({ bought: request.path })
  })
  return {
    ...(await listenOn(app)),
    /** How often a handler ran. */
    served: () => served,
  }
}

async function listenOn(app: express.Express) {
  const listening = app.listen(0, '127.0.0.1')
  await new Promise((resolve) => listening.once('listening', resolve))
  const { port } = listening.address() as AddressInfo
  return {
    get: (path: string, payment?: unknown, init: RequestInit = {}) =>
      fetch(`http://127.0.0.1:${port}${path}`, { ...init, ...(payment !== undefined && paying(payment)) }),
    close: () => {
      listening.closeAllConnections()
      return new Promise<void>((resolve) => listening.close(() => resolve()))
    },
  }
}

export const paying = (payment: unknown) => ({
  headers: { [Headers.paymentSignature]: typeof payment === 'string' ? payment : Headers.encode(payment) },
})

export function required(response: Response): PaymentRequired {
  return decode(response, Headers.paymentRequired) as PaymentRequired
}

export function receipt(response: Response): SettleResponse {
  return decode(response, Headers.paymentResponse) as SettleResponse
}

function decode(response: Response, header: string): unknown {
  const decoded = Headers.decode(response.headers.get(header))
  if (!decoded.ok) throw new Error(`${header}: ${decoded.message}`)
  return decoded.value
}

/** The first offer of a 402. */
export function offerOf({ accepts }: PaymentRequired): PaymentRequirements {
  const [offer] = accepts
  if (offer === undefined) throw new Error('no offer in accepts')
  return offer
}

/** A payment that echoes the offer and its resource, as an official client makes it. */
export function paymentFor(accepted: PaymentRequirements, resource?: PaymentRequired['resource']) {
  const payment: PaymentPayload = {
    x402Version: 2,
    accepted,
    payload: { challengeNonce: accepted.extra.challengeNonce, burnTxHash: `0x${'cd'.repeat(32)}` },
    ...(resource !== undefined && { resource }),
  }
  return payment
}
