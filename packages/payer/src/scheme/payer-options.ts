/** The operator's options, read once into the configuration of the payer. */
import {
  type Address,
  type BaseUnits,
  conversionOf,
  Network,
  parseAddress,
  parseBaseUnits,
  SvcError,
} from '@svc-zerc20/protocol'
import type { LocalAccount } from 'viem'
import { type Clock, systemClock } from '../clock.js'
import { defaultLimits, type PayerLimits } from '../limits.js'
import { createPaymentMemory, type PaymentMemory } from '../payment/payment-memory.js'
import { defaultMaxGasWei, type Policy } from '../policy/policy.js'

const modes = ['permit', 'self-transfer'] as const
export type PayerMode = (typeof modes)[number]

/** The key of the paying account: any viem local account. */
export type PayerAccount = Pick<LocalAccount, 'address' | 'signTypedData' | 'signTransaction'>

export type PayerOptions = {
  readonly account: PayerAccount
  readonly rpcUrl: string
  /** The only network whose offers are paid; the RPC endpoint must serve it. */
  readonly network: Network.Network
  /** Highest amount of one payment, in base units; `unlimited` lets a seller ask for everything. */
  readonly maxAmountPerPayment: string | 'unlimited'
  /** Tokens that may be spent; `any` lets a seller name every token the account holds. */
  readonly allowedTokens: readonly string[] | 'any'
  /**
   * The only helper contracts that a permit may name as spender. Without this list a helper is signed for
   * when its runtime code is that of our `SvcPermitBurner`. An account without code is never signed for.
   */
  readonly allowedHelpers?: readonly string[]
  /** `permit` (default) only signs; `self-transfer` broadcasts and pays gas. */
  readonly mode?: PayerMode
  /** How to pay in permit mode when an offer has no gasless path. Without it such offers are refused. */
  readonly fallback?: 'self-transfer'
  /** The most that the gas of one self-transfer may cost, in wei; 0.01 of the chain's money by default. */
  readonly maxGasWei?: string
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
  readonly policy: Policy
  readonly memory: PaymentMemory
  readonly clock: Clock
  readonly limits: PayerLimits
}

/** Reads the options. Wrong ones are rejected with a named error, before any offer is looked at. */
export function readOptions(options: PayerOptions): PayerConfig {
  const { account, rpcUrl, network, mode = 'permit', fallback, clock = systemClock } = options
  const limits: PayerLimits = { ...defaultLimits, ...options.limits }
  const chainId = Network.parseChainId(network)
  if (chainId === undefined) throw misconfigured(`network: ${network} is not eip155:<chainId>`)
  if (!modes.includes(mode)) throw misconfigured(`mode: ${mode} is not one of ${modes.join(', ')}`)
  if (fallback !== undefined && fallback !== 'self-transfer') {
    throw misconfigured(`fallback: ${fallback} is not self-transfer`)
  }
  const policy: Policy = {
    ...nothingFurther,
    network,
    allowedTokens: readTokens(options.allowedTokens),
    allowedHelpers: options.allowedHelpers?.map((text) => readAddress('allowedHelpers', text)),
    maxAmountPerPayment: readCap(options.maxAmountPerPayment),
    maxGasWei: readWei(options.maxGasWei),
  }
  const memory = options.memory ?? createPaymentMemory({ clock, limits })
  const payer = readAddress('account.address', account.address)
  return { account, payer, rpcUrl, chainId, mode, fallback, policy, memory, clock, limits }
}

/** The rules that `createPayer` has and a bare scheme leaves to its caller. */
const nothingFurther = {
  hosts: 'any',
  maxTotal: undefined,
  maxPerHost: undefined,
  maxPerDay: undefined,
  approveAbove: undefined,
  approvalTimeoutMs: 0,
  priceRisePercent: undefined,
} as const

// Callers without types can leave options out, so the presence of the two choices about money is checked.

function readCap(text: string | undefined): BaseUnits | undefined {
  if (text === undefined) {
    throw misconfigured(
      "maxAmountPerPayment is missing: write the highest amount of one payment in base units, or 'unlimited'",
    )
  }
  if (text === 'unlimited') return undefined
  const cap = parseBaseUnits(text)
  if (cap === undefined)
    throw misconfigured(
      `maxAmountPerPayment: ${text} is no plain integer in base units; ${conversionOf(text)}`,
    )
  return cap
}

function readWei(text: string | undefined): bigint {
  const wei = text === undefined ? defaultMaxGasWei : parseBaseUnits(text)
  if (wei === undefined) throw misconfigured(`maxGasWei: ${text} is no plain integer of wei`)
  return wei
}

function readTokens(tokens: readonly string[] | 'any' | undefined): readonly Address[] | undefined {
  if (tokens === 'any') return undefined
  if (!Array.isArray(tokens) || tokens.length === 0) {
    throw misconfigured("allowedTokens is missing: write the addresses of tokens that may be spent, or 'any'")
  }
  return tokens.map((text) => readAddress('allowedTokens', text))
}

function readAddress(name: string, text: string): Address {
  const address = parseAddress(text)
  if (address === undefined) throw misconfigured(`${name}: ${text} is not an address`)
  return address
}

const misconfigured = (message: string) => new SvcError('payer_misconfigured', message)
