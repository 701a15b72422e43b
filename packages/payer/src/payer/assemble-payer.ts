/** The parts of a payer put together: one scheme, one guard, one memory. */

import {
  type Address,
  type ChallengeNonce,
  Network,
  nearestName,
  parseAddress,
  SvcError,
} from '@svc-zerc20/protocol'
import { createDelivery } from '../delivery/delivery.js'
import { PayerError } from '../payer-error.js'
import type { Policy } from '../policy/policy.js'
import { createPayerChain, type PayerChain } from '../signing/chain.js'
import { createScheme, type PayerAccount, type PayerScheme, type SchemeParts } from '../signing/scheme.js'
import type { PayerState } from '../state/open-state.js'
import type { Purchased } from './bought.js'
import { type Buyer, createBuyer, type PayOptions } from './pay.js'
import { type Quote, quoteOf } from './quote.js'

export type Payer = {
  /** The price of a request and the verdicts of the rules. Needs no key, reserves nothing, signs nothing. */
  quote(input: string | URL | Request, init?: RequestInit): Promise<Quote>
  /**
   * Makes a request, and pays for it if the seller asks for it and the rules allow it. A payment whose answer
   * was lost is presented again first. A bought answer comes as a whole, and is in the state folder until then. The same
   * request again, while one runs, joins it. A signal ends the purchase before its signature; a payment under way it never ends,
   * and its answer is kept for the next call. Throws `PayerError` with the refusal or failure.
   */
  pay(input: string | URL | Request, init?: RequestInit, options?: PayOptions): Promise<Purchased>
  /**
   * For official clients: `x402Client.register(network, payer.scheme)` above
   * `deliverPayments(fetch, payer.scheme)`.
   */
  readonly scheme: PayerScheme
  readonly policy: Policy
}

/** Everything a payer is made of, read and checked. */
export type PayerParts = Omit<SchemeParts, 'account' | 'payer' | 'chainId'> & {
  /** Undefined: the payer can quote, but cannot pay. */
  readonly account: PayerAccount | undefined
  readonly rpcUrl: string
  readonly fetch: typeof globalThis.fetch
}

/** The payer, and the parts of it that only our own programs use. */
export type AssembledPayer = Payer & {
  readonly state: PayerState
  readonly chain: PayerChain
  readonly rpcUrl: string
  /** The address of the account, where there is one. */
  readonly address: Address | undefined
  /** Like `pay`, for a caller that says itself when it has handed the answer over. */
  readonly buy: Buyer['buy']
  readonly resume: Buyer['resume']
}

export function assemblePayer(parts: PayerParts): AssembledPayer {
  const { policy, state, rpcUrl, fetch } = parts
  const account = parts.account ?? keyless
  const chainId = Network.parseChainId(policy.network)
  const payer = parseAddress(account.address)
  if (chainId === undefined || payer === undefined)
    throw new SvcError('payer_misconfigured', 'network or account')
  const config = { ...parts, account, payer, chainId }
  const isReplaced = async (nonce: ChallengeNonce) =>
    (await state.totals.reservation(nonce))?.isReplaced === true
  const chain = createPayerChain({ ...config, isReplaced })
  const scheme = createScheme(config, chain)
  const { ask } = createDelivery(fetch, scheme)
  const buyer = createBuyer({ scheme, fetch, kept: state.kept })
  const buy: Buyer['buy'] = async (request, options) => {
    if (parts.account === undefined) throw new PayerError('key_missing', 'there is no account to pay from')
    return buyer.buy(request, options)
  }
  return {
    policy,
    scheme,
    state,
    chain,
    rpcUrl,
    buy,
    resume: buyer.resume,
    address: parts.account && payer,

    async quote(input, init) {
      const request = new Request(input, init)
      const response = await ask(request)
      const quote = await quoteOf(request, response, scheme)
      response.body?.cancel().catch(() => undefined)
      return quote
    },

    async pay(input, init, options = {}) {
      assertKnown('options.', options, payOptionNames)
      const { response, payment, end, handedOver } = await buy(new Request(input, init), options)
      await handedOver()
      return { response, payment, end }
    },
  }
}

const payOptionNames = Object.keys({ max: 0, asQuoted: 0, onStep: 0 } satisfies Record<keyof PayOptions, 0>)

/** Callers without types can misspell an option. A misspelled cap is no cap. */
export function assertKnown(where: string, given: object, known: readonly string[]): void {
  const name = Object.keys(given).find((each) => !known.includes(each))
  if (name === undefined) return
  const meant = nearestName(name, known)
  throw new SvcError(
    'payer_misconfigured',
    `${where}${name}: there is no such option${meant ? `; did you mean ${where}${meant}?` : ''}`,
  )
}

const noKey = async (): Promise<never> => {
  throw new PayerError('key_missing', 'there is no account to pay from')
}

/** Stands in for a missing account. Its address belongs to nobody, and it signs nothing. */
const keyless: PayerAccount = {
  address: `0x${'0'.repeat(39)}1`,
  signTypedData: noKey,
  signTransaction: noKey,
}
