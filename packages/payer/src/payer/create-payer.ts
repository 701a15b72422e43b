/** The library: a payer with limits, for programs. */
import { Network, SvcError } from '@svc-zerc20/protocol'
import type { Approver } from '../approval/approval.js'
import { type Clock, systemClock } from '../clock.js'
import * as Forms from '../environment/forms.js'
import type { PayerLimits } from '../limits.js'
import { parseHostRules } from '../policy/hosts.js'
import { defaultMaxGasWei, type Policy } from '../policy/policy.js'
import type { Reading } from '../reading.js'
import type { PayerAccount, PayerMode } from '../scheme/payer-options.js'
import { assemblePayer, type Payer } from './assemble-payer.js'

export type CreatePayerOptions = {
  /** The account that pays: any viem local account. Without one the payer can quote. */
  readonly account?: PayerAccount
  readonly rpcUrl: string
  /** The only network whose offers are paid. */
  readonly network: Network.Network
  /** Hosts that requests may leave for, at every redirect, or `any`. */
  readonly allowedHosts: readonly string[] | 'any'
  /** Tokens that may be spent, or `any`. */
  readonly allowedTokens: readonly string[] | 'any'
  /** Helpers that are signed for. Without this list a helper must have the code of our permit burner. */
  readonly allowedHelpers?: readonly string[]
  /** Caps in base units, or the word `unlimited`. */
  readonly maxAmountPerPayment: string | 'unlimited'
  readonly maxTotal: string | 'unlimited'
  readonly maxPerHost?: string
  readonly maxPerDay?: string
  /** The most that the gas of one self-transfer may cost, in wei; 0.01 of the chain's money by default. */
  readonly maxGasWei?: string
  /** A payment above this amount needs the yes of `approve`. */
  readonly approveAbove?: string
  readonly approvalTimeoutMs?: number
  /** A request that costs this many percent more than before needs the yes of `approve`, too. */
  readonly priceRisePercent?: number
  readonly approve?: Approver
  /**
   * Folder of totals, payments and audit log, shared by every process that uses it. `memory` keeps them in
   * this process only.
   */
  readonly state: string | 'memory'
  readonly mode?: PayerMode
  readonly fallback?: 'self-transfer'
  readonly timeoutMs?: number
  readonly fetch?: typeof globalThis.fetch
  readonly clock?: Clock
  readonly limits?: Partial<PayerLimits>
}

/**
 * Creates a payer that keeps to its limits, across processes and crashes.
 *
 * @example
 * const payer = createPayer({
 *   account, rpcUrl, network: 'eip155:31337', allowedHosts: ['shop.example'], allowedTokens: [token],
 *   maxAmountPerPayment: '1000000', maxTotal: '50000000', state: '/var/lib/my-agent',
 * })
 * const { response, payment } = await payer.pay('https://shop.example/report')
 */
export function createPayer(options: CreatePayerOptions): Payer {
  const { mode = 'permit', fallback, state, clock = systemClock, timeoutMs = 30_000 } = options
  if (!['permit', 'self-transfer'].includes(mode))
    throw misconfigured('mode', 'wanted is permit or self-transfer')
  if (typeof state !== 'string' || state === '') {
    throw misconfigured('state', "wanted is a folder, or 'memory' to forget totals at the end of the process")
  }
  return assemblePayer({
    account: options.account,
    rpcUrl: options.rpcUrl,
    mode,
    fallback,
    policy: readPolicy(options),
    stateFolder: state === 'memory' ? undefined : state,
    timeoutMs,
    approver: options.approve,
    fetch: options.fetch ?? globalThis.fetch,
    clock,
    limits: options.limits,
  })
}

function readPolicy(options: CreatePayerOptions): Policy {
  const { network } = options
  if (Network.parseChainId(network) === undefined)
    throw misconfigured('network', 'wanted is eip155:<chainId>')
  const cap = (name: 'maxAmountPerPayment' | 'maxTotal' | 'maxPerHost' | 'maxPerDay' | 'approveAbove') => {
    const text: unknown = options[name]
    return text === undefined || text === 'unlimited'
      ? undefined
      : readAs(name, Forms.baseUnits, String(text))
  }
  for (const name of ['maxAmountPerPayment', 'maxTotal'] as const) {
    if (options[name] === undefined)
      throw misconfigured(name, "wanted is an amount in base units, or 'unlimited'")
  }
  const addresses = (name: 'allowedTokens' | 'allowedHelpers') =>
    (options[name] as readonly string[] | undefined)?.map((text) => readAs(name, Forms.address, text))
  if (options.allowedTokens !== 'any' && !options.allowedTokens?.length) {
    throw misconfigured('allowedTokens', "wanted are addresses, or 'any'")
  }
  return {
    network,
    hosts: options.allowedHosts === 'any' ? 'any' : readHosts(options.allowedHosts),
    allowedTokens: options.allowedTokens === 'any' ? undefined : addresses('allowedTokens'),
    allowedHelpers: addresses('allowedHelpers'),
    maxAmountPerPayment: cap('maxAmountPerPayment'),
    maxTotal: cap('maxTotal'),
    maxPerHost: cap('maxPerHost'),
    maxPerDay: cap('maxPerDay'),
    maxGasWei:
      options.maxGasWei === undefined ? defaultMaxGasWei : readAs('maxGasWei', Forms.wei, options.maxGasWei),
    approveAbove: cap('approveAbove'),
    approvalTimeoutMs: options.approvalTimeoutMs ?? 120_000,
    priceRisePercent: options.priceRisePercent,
  }
}

function readHosts(hosts: readonly string[] | undefined): Policy['hosts'] {
  if (!Array.isArray(hosts)) throw misconfigured('allowedHosts', "wanted are hostnames, or 'any'")
  const reading: Reading<Policy['hosts']> = parseHostRules(hosts)
  if ('fault' in reading) throw misconfigured('allowedHosts', reading.fault)
  return reading.value
}

function readAs<T>(name: string, { read, wanted }: Forms.Form<T>, text: string): T {
  const reading = read(text)
  if ('value' in reading) return reading.value
  throw misconfigured(name, `${reading.fault}; wanted is ${wanted}`)
}

const misconfigured = (name: string, fault: string) =>
  new SvcError('payer_misconfigured', `${name}: ${fault}`)
