/** Every environment variable of the payer: one table for the reader, the library and the reference page. */
import { nearestName, SvcError } from '@svc-zerc20/protocol'
import type { Reading } from '../policy/hosts.js'
import type { Policy } from '../policy/policy.js'
import * as Forms from './forms.js'

export type Variable = {
  readonly form: Forms.Form<unknown>
  /** The value of an unset variable, as text. Without it an unset variable has no value. */
  readonly fallback?: string
  /** The meaning of an unset variable without a fallback. */
  readonly unset?: string
  readonly about: string
  /** Shown when the variable is unset, because unset allows everything. */
  readonly warning?: string
}

export const variables = {
  SVC_PAYER_PK: {
    form: Forms.privateKey,
    unset: 'nothing can be paid; quoting works',
    about: 'Private key of the account that pays.',
  },
  SVC_RPC_URL: {
    form: Forms.url,
    fallback: 'http://127.0.0.1:8545',
    about: 'EVM RPC endpoint: chain reads and, in self-transfer mode, the broadcast.',
  },
  SVC_MODE: {
    form: Forms.oneOf('permit', 'self-transfer'),
    fallback: 'permit',
    about: '`permit` only signs. `self-transfer` sends the burn and pays its gas.',
  },
  SVC_TIMEOUT_MS: {
    form: Forms.milliseconds,
    fallback: '30000',
    about:
      'Longest wait for the complete head of an answer over HTTP, a payment’s included, for the next piece of its body, and for all of an answer of the RPC endpoint.',
  },
  SVC_ALLOWED_HOSTS: {
    form: Forms.hosts,
    fallback: 'localhost,127.0.0.1',
    about: 'The only hosts that requests leave for, at every redirect. `*` allows all.',
  },
  SVC_ALLOWED_NETWORK: {
    form: Forms.network,
    fallback: 'eip155:31337',
    about: 'The only network whose offers are paid.',
  },
  SVC_ALLOWED_TOKEN: {
    form: Forms.addresses,
    unset: 'any token on the network',
    about: 'The only token that is spent.',
    warning: 'a seller may ask for any token the account holds',
  },
  SVC_ALLOWED_HELPER: {
    form: Forms.addresses,
    unset: 'a helper with the code of our burner',
    about: 'The only helper contract that is signed for.',
  },
  SVC_MAX_PER_PAYMENT: {
    form: Forms.baseUnits,
    unset: 'no cap',
    about: 'Cap for one payment.',
    warning: 'one payment may cost all the account has',
  },
  SVC_MAX_TOTAL: {
    form: Forms.baseUnits,
    unset: 'no cap',
    about: 'Cap for all payments together, per network and token, as long as the state folder is kept.',
    warning: 'all payments together may cost all the account has',
  },
  SVC_MAX_PER_HOST: {
    form: Forms.baseUnits,
    unset: 'no cap',
    about: 'Cap for all payments to one hostname, per network and token.',
  },
  SVC_MAX_PER_DAY: {
    form: Forms.baseUnits,
    unset: 'no cap',
    about: 'Cap for all payments of the last 24 hours, counted by whole hours, per network and token.',
  },
  SVC_MAX_GAS_WEI: {
    form: Forms.wei,
    // 0.01 of the chain's money: a transfer takes about 200 000 gas, which at 40 gwei costs 0.008.
    fallback: '10000000000000000',
    about: 'The most that the gas of one payment by self-transfer may cost, in wei.',
  },
  SVC_APPROVE_ABOVE: {
    form: Forms.baseUnits,
    unset: 'nobody is asked',
    about: 'A payment above this amount is made only when a human approves it.',
  },
  SVC_APPROVAL_TIMEOUT_MS: {
    form: Forms.milliseconds,
    fallback: '120000',
    about: 'Longest wait for the human. Silence means no.',
  },
  SVC_PRICE_RISE_PERCENT: {
    form: Forms.percent,
    unset: 'nobody is asked',
    about:
      'A request that costs this many percent more than before is paid only when a human approves it, too.',
  },
  SVC_STATE_DIR: {
    form: Forms.absolutePath,
    unset: '`$XDG_STATE_HOME/svc-pay`, or `~/.local/state/svc-pay`',
    about: 'Folder of totals, payments and the audit log. Processes that share it share the limits.',
  },
  SVC_MCP_TOKEN: {
    form: Forms.bearerToken,
    unset: 'one is made at every start and shown on standard error',
    about: 'Bearer token of `svc-pay mcp --http`.',
  },
} as const satisfies Readonly<Record<string, Variable>>

export type VariableName = keyof typeof variables

export const variableNames = Object.keys(variables) as VariableName[]

/** The variable of each limit of the policy. */
export const limitVariables = {
  network: 'SVC_ALLOWED_NETWORK',
  allowedHosts: 'SVC_ALLOWED_HOSTS',
  allowedTokens: 'SVC_ALLOWED_TOKEN',
  allowedHelpers: 'SVC_ALLOWED_HELPER',
  maxAmountPerPayment: 'SVC_MAX_PER_PAYMENT',
  maxTotal: 'SVC_MAX_TOTAL',
  maxPerHost: 'SVC_MAX_PER_HOST',
  maxPerDay: 'SVC_MAX_PER_DAY',
  maxGasWei: 'SVC_MAX_GAS_WEI',
  approveAbove: 'SVC_APPROVE_ABOVE',
  approvalTimeoutMs: 'SVC_APPROVAL_TIMEOUT_MS',
  priceRisePercent: 'SVC_PRICE_RISE_PERCENT',
} as const satisfies Readonly<Record<keyof Policy, VariableName>>

/** Variables of our other programs. They are not misspelled, and the keys among them are taken out as well. */
export const otherPrograms = [
  'SVC_TREASURY_PK',
  'SVC_RELAYER_PK',
  'SVC_ADMIN_TOKEN',
  'SVC_INDEXER_PK',
] as const

/** Whether a variable is removed from the process' environment once it is read: secrets, and names that sound secret. */
export const isTakenOut = (name: string): boolean =>
  /^SVC_.*(?:_PK|TOKEN|KEY|SECRET)$/.test(name) && name !== 'SVC_ALLOWED_TOKEN'

export type Environment = Readonly<Record<string, string | undefined>>

type ValueOf<V> = V extends { readonly form: Forms.Form<infer T> }
  ? V extends { readonly fallback: string }
    ? T
    : T | undefined
  : never

/** The value of every variable, by its name. */
export type Settings = { readonly [Name in VariableName]: ValueOf<(typeof variables)[Name]> }

export type EnvironmentReading = {
  readonly settings: Settings
  /** One sentence for each choice that was not made and for each unknown name. Show them where the operator looks. */
  readonly warnings: readonly string[]
}

/**
 * Reads every variable first, then names all faults at once.
 *
 * @throws SvcError `payer_misconfigured` with one line for each value that cannot be read: the variable, what
 * is wrong with the value, the form it needs. No line contains a key.
 */
export function readEnvironment(environment: Environment): EnvironmentReading {
  const faults: string[] = []
  const warnings: string[] = []
  const settings = Object.fromEntries(
    variableNames.map((name) => {
      const { form, fallback, warning }: Variable = variables[name]
      // A key that is empty is no key: shells and compose files pass unset variables on as empty ones.
      const given = name === 'SVC_PAYER_PK' && environment[name] === '' ? undefined : environment[name]
      if (given === undefined && warning) warnings.push(`${name} is unset: ${warning}`)
      const text = given ?? fallback
      if (text === undefined) return [name, undefined]
      const reading: Reading<unknown> = form.read(text)
      if ('value' in reading) return [name, reading.value]
      faults.push(`${name}: ${reading.fault}; expected ${form.wanted}`)
      return [name, undefined]
    }),
  ) as Settings
  if (faults.length > 0) throw new SvcError('payer_misconfigured', faults.join('\n'))
  return { settings, warnings: [...warnings, ...unknownNames(environment)] }
}

/** The limits among the settings. */
export const policyOf = (settings: Settings): Policy => {
  const limits = Object.entries(limitVariables).map(([limit, name]) => [limit, settings[name]])
  return Object.fromEntries(limits) as {
    [Limit in keyof Policy]: Settings[(typeof limitVariables)[Limit]]
  }
}

/** Names that the payer does not know. A misspelled cap is no cap. */
function unknownNames(environment: Environment): string[] {
  const known: readonly string[] = [...variableNames, ...otherPrograms]
  return Object.keys(environment)
    .filter((name) => name.startsWith('SVC_') && !known.includes(name))
    .sort()
    .map((name) => {
      const meant = nearestName(name, variableNames)
      return `${name.replace(/[^\w]/g, '?').slice(0, 80)} is no variable of this program and is ignored${meant ? `; did you mean ${meant}?` : ''}`
    })
}
