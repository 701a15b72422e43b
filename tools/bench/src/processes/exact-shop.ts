/** A shop with the official middleware that sells one route for the scheme `exact`. */
import { HTTPFacilitatorClient } from '@x402/core/server'
import { ExactEvmScheme } from '@x402/evm/exact/server'
import { paymentMiddleware, x402ResourceServer } from '@x402/express'
import express from 'express'
import { announceReady } from './child.js'

export type ShopReady = { readonly url: string }

const {
  FACILITATOR_URL: url = '',
  TOKEN: asset = '',
  PAY_TO: payTo = '',
  NAME = '',
  VERSION = '',
} = process.env
const network = process.env.NETWORK as `eip155:${number}`

const server = new x402ResourceServer(new HTTPFacilitatorClient({ url })).register(
  network,
  new ExactEvmScheme(),
)
const price = { amount: '1000', asset, extra: { name: NAME, version: VERSION } }
const app = express()
app.use(paymentMiddleware({ 'GET /cheap': { accepts: { scheme: 'exact', network, payTo, price } } }, server))
app.get('/cheap', (_request, response) => {
  response.json({ thought: 'Everybody knows who paid whom.' })
})
const listening = app.listen(0, '127.0.0.1', () => {
  const address = listening.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  announceReady({ url: `http://127.0.0.1:${port}/cheap` } satisfies ShopReady)
})
