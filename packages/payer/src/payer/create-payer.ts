/** The library: a payer with limits, for programs. */
import { type Clock, type Network, SvcError } from '@svc-zerc20/protocol'
import { systemClock } from '@svc-zerc20/protocol/system-clock'
import { readValue } from '../environment/forms.js'
import { limitVariables, type Variable, variables } from '../environment/variables.js'
import { defaultLimits, limitsFor, type PayerLimits } from '../limits.js'
import type { Approver } from '../policy/approval.js'
import type { Policy } from '../policy/policy.js'
import type { PayerAccount, PayerMode, PayerScheme } from '../signing/scheme.js'
import { createMemoryState, openState } from '../state/open-state.js'
import { assemblePayer, assertKnown, type Payer } from './assemble-payer.js'

export type CreatePayerOptions = {
  /** The account that pays: any viem local account. Without one the payer can quote. */
  readonly account?: PayerAccount
  readonly rpcUrl: string
  /** The only network whose offers are paid; the RPC endpoint must serve it. */
  readonly network: Network.Network
  /** Hosts that requests may leave for, at every redirect, or `any`. */
  readonly allowedHosts: readonly string[] | 'any'
  /** Tokens that may be spent; `any` lets a seller name every token the account holds. */
  readonly allowedTokens: readonly string[] | 'any'
  /**
   * The only helper contracts that a permit may name as spender. Without this list a helper is signed for
   * when its runtime code is that of our `SvcPermitBurner`. An account without code is never signed for.
   */
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
  /** `permit` (default) only signs; `self-transfer` broadcasts and pays gas. */
  readonly mode?: PayerMode
  /** How to pay in permit mode when an offer has no gasless path. Without it such offers are refused. */
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
  const { mode = 'permit', fallback, state: folder, clock = systemClock, timeoutMs = 30_000 } = options
  assertKnown('', options, optionNames)
  assertKnown('limits.', options.limits ?? {}, Object.keys(defaultLimits))
  for (const [name, value] of Object.entries({ timeoutMs, ...options.limits })) {
    if (!Number.isFinite(value) || value < 0)
      throw misconfigured(`${name}: expected a number that is not negative`)
  }
  assertOneOf('mode', mode, ['permit', 'self-transfer'])
  assertOneOf('fallback', fallback, [undefined, 'self-transfer'])
  if (typeof folder !== 'string' || folder === '') {
    throw misconfigured("state: expected a folder, or 'memory' to forget totals at the end of the process")
  }
  const limits = limitsFor(timeoutMs, options.limits)
  return assemblePayer({
    account: options.account,
    rpcUrl: options.rpcUrl,
    mode,
    fallback,
    policy: readPolicy(options),
    state: folder === 'memory' ? createMemoryState({ clock, limits }) : openState({ folder, clock, limits }),
    approver: options.approve,
    fetch: options.fetch ?? globalThis.fetch,
    clock,
    limits,
  })
}

/** The options of a bare scheme. Hosts and the total are left to its client, and it forgets them with the process. */
export type PayerOptions = Omit<CreatePayerOptions, 'account' | 'allowedHosts' | 'maxTotal' | 'state'> & {
  readonly account: PayerAccount
}

/**
 * Creates the scheme for one account on one network, for an official client that has its own limits. Make one and
 * register it with every client: the memory of payments and the order of permit nonces live in it.
 *
 * @example
 * const payer = createPayerScheme({
 *   account, rpcUrl, network: 'eip155:31337', allowedTokens: [token], maxAmountPerPayment: '1000000',
 * })
 * const client = withSpendControls(new x402Client(), [{ network: 'eip155:31337', asset: token }])
 * const pay = wrapFetchWithPayment(deliverPayments(fetch, payer), client.register('eip155:31337', payer))
 */
export function createPayerScheme(options: PayerOptions): PayerScheme {
  const rest = { allowedHosts: 'any', maxTotal: 'unlimited', state: 'memory' } as const
  const kept = optionNames.filter((name) => !(name in rest))
  assertKnown('', options, kept)
  return createPayer({ ...options, ...rest }).scheme
}

/** Limits that have to be said, and the word for none. Callers without types can leave options out. */
const chosen: { readonly [limit: string]: string | undefined } = {
  network: undefined,
  allowedHosts: 'any',
  allowedTokens: 'any',
  maxAmountPerPayment: 'unlimited',
  maxTotal: 'unlimited',
}

function readPolicy(options: CreatePayerOptions): Policy {
  const limits = Object.entries(limitVariables).map(([name, variable]) => {
    const { form, fallback }: Variable = variables[variable]
    const given = options[name as keyof Policy] ?? (name in chosen ? undefined : fallback)
    const word = chosen[name]
    if (given === undefined && name in chosen) {
      throw misconfigured(`${name} is missing: write ${form.wanted}${word ? `, or '${word}'` : ''}`)
    }
    if (given === undefined || given === word) return [name, name === 'allowedHosts' ? 'any' : undefined]
    if (name === 'allowedTokens' && options.allowedTokens.length === 0)
      throw misconfigured(`${name}: the list is empty`)
    const isNumber = name === 'approvalTimeoutMs' || name === 'priceRisePercent'
    const reading = readValue(form, isNumber ? `${given}` : given)
    if ('value' in reading) return [name, reading.value]
    throw misconfigured(`${name}: ${reading.fault}`)
  })
  return Object.fromEntries(limits) as Policy
}

/** The names of all options. The compiler misses none of them. */
const optionNames = Object.keys({
  account: 0,
  rpcUrl: 0,
  network: 0,
  allowedHosts: 0,
  allowedTokens: 0,
  allowedHelpers: 0,
  maxAmountPerPayment: 0,
  maxTotal: 0,
  maxPerHost: 0,
  maxPerDay: 0,
  maxGasWei: 0,
  approveAbove: 0,
  approvalTimeoutMs: 0,
  priceRisePercent: 0,
  approve: 0,
  state: 0,
  mode: 0,
  fallback: 0,
  timeoutMs: 0,
  fetch: 0,
  clock: 0,
  limits: 0,
} satisfies Record<keyof CreatePayerOptions, 0>)

const assertOneOf = (name: string, given: unknown, known: readonly unknown[]) => {
  if (!known.includes(given)) throw misconfigured(`${name}: expected ${known.filter(Boolean).join(' or ')}`)
}

const misconfigured = (fault: string) => new SvcError('payer_misconfigured', fault)
