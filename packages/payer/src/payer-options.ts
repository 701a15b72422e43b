/** What an operator sets, read once into what the payer works with. */
import { type Address, Network, parseAddress, parseBaseUnits, SvcError } from '@svc-zerc20/protocol'
import type { LocalAccount } from 'viem'
import type { OfferPins } from './check-offer.js'
import { type Clock, systemClock } from './clock.js'
import { defaultLimits, type PayerLimits } from './limits.js'
import { createPaymentMemory, type PaymentMemory } from './payment-memory.js'

export type PayerMode = 'permit' | 'self-transfer'

/** The key of the paying account: any viem local account. */
export type PayerAccount = Pick<LocalAccount, 'address' | 'signTypedData' | 'signTransaction'>

export type PayerOptions = {
  readonly account: PayerAccount
  readonly rpcUrl: string
  /** The only network whose offers are paid; the RPC endpoint must serve it. */
  readonly network: Network.Network
  /** `permit` (default) only signs; `self-transfer` broadcasts and pays gas. */
  readonly mode?: PayerMode
  /** What to do in permit mode when an offer has no gasless path. Without it such offers are refused. */
  readonly fallback?: 'self-transfer'
  /** Tokens that may be spent; unset allows any on the network. */
  readonly allowedTokens?: readonly string[]
  /** Helper contracts a permit may name as spender; unset trusts every seller's choice with the amount. */
  readonly allowedHelpers?: readonly string[]
  /** Highest amount of one payment, in base units. */
  readonly maxAmountPerPayment?: string
  readonly memory?: PaymentMemory
  readonly clock?: Clock
  readonly limits?: Partial<PayerLimits>
}

export type PayerConfig = {
  readonly account: PayerAccount
  readonly payer: Address
  readonly rpcUrl: string
  readonly chainId: number
  readonly mode: PayerMode
  readonly fallback: 'self-transfer' | undefined
  readonly pins: OfferPins
  readonly memory: PaymentMemory
  readonly clock: Clock
  readonly limits: PayerLimits
}

/** Rejects what cannot be right with a named error, before any offer is looked at. */
export function readOptions(options: PayerOptions): PayerConfig {
  const { account, rpcUrl, network, mode = 'permit', fallback, clock = systemClock } = options
  const limits: PayerLimits = { ...defaultLimits, ...options.limits }
  const chainId = Network.parseChainId(network)
  if (chainId === undefined) throw misconfigured(`network: ${network} is not eip155:<chainId>`)
  const maxAmountPerPayment = parseBaseUnits(options.maxAmountPerPayment)
  if (options.maxAmountPerPayment !== undefined && maxAmountPerPayment === undefined) {
    throw misconfigured(`maxAmountPerPayment: ${options.maxAmountPerPayment} is not a plain integer`)
  }
  const list = (name: string, texts: readonly string[] | undefined) =>
    texts?.map((text) => readAddress(name, text))
  const pins: OfferPins = {
    network,
    allowedTokens: list('allowedTokens', options.allowedTokens),
    allowedHelpers: list('allowedHelpers', options.allowedHelpers),
    maxAmountPerPayment,
  }
  const memory = options.memory ?? createPaymentMemory({ clock, limits })
  const payer = readAddress('account.address', account.address)
  return { account, payer, rpcUrl, chainId, mode, fallback, pins, memory, clock, limits }
}

function readAddress(name: string, text: string): Address {
  const address = parseAddress(text)
  if (address === undefined) throw misconfigured(`${name}: ${text} is not an address`)
  return address
}

const misconfigured = (message: string) => new SvcError('payer_misconfigured', message)
