/** The official clients with our payer scheme registered, and nothing else of ours. */
import {
  createPayerScheme,
  type PayerAccount,
  type PayerOptions,
  type PayerScheme,
  withSpendControls,
} from '@svc-zerc20/payer'
import * as axios402 from '@x402/axios'
import type { SettleResponse } from '@x402/core/types'
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import axios, { AxiosHeaders } from 'axios'
import { type Interop, network } from './network.js'
import { receipt } from './wire.js'

export type Bought = {
  readonly status: number
  readonly body: unknown
  readonly receipt: SettleResponse | undefined
}
export type Buy = (url: string) => Promise<Bought>

export const modes = ['permit', 'self-transfer'] as const

export function createPayer(
  { rpcUrl, payer }: Pick<Interop, 'rpcUrl' | 'payer'>,
  options: Partial<PayerOptions> & { account?: PayerAccount } = {},
): PayerScheme {
  const choices = { allowedTokens: 'any', maxAmountPerPayment: 'unlimited' } as const
  return createPayerScheme({ account: payer, rpcUrl, network, ...choices, ...options })
}

/** `@x402/fetch` over the given fetch. */
export function buyWithFetch({ token }: Interop, payer: PayerScheme, over: typeof fetch = fetch): Buy {
  const client = withSpendControls(new x402Client(), [{ network, asset: token }])
  const pay = wrapFetchWithPayment(over, client.register(network, payer))
  return async (url) => {
    const response = await pay(url)
    const { status } = response
    return { status, body: await response.json(), receipt: receiptIn(response.headers) }
  }
}

/** `@x402/axios`, whose core is older: 2.11 knows neither spend controls nor hooks of schemes. */
export function buyWithAxios(_: Interop, payer: PayerScheme): Buy {
  const client = new axios402.x402Client().register(network, payer)
  const pay = axios402.wrapAxiosWithPayment(axios.create(), client)
  return async (url) => {
    const { status, data, headers } = await pay.get(url)
    const all = new Headers(AxiosHeaders.from(headers as AxiosHeaders).toJSON(true) as Record<string, string>)
    return { status, body: data, receipt: receiptIn(all) }
  }
}

const receiptIn = (headers: Headers) => (headers.has('PAYMENT-RESPONSE') ? receipt({ headers }) : undefined)
