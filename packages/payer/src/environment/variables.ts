/** Every environment variable of the payer, for the reader of the environment and for the reference page. */
import { defaultMaxGasWei } from '../policy/policy.js'
import type { Form } from './forms.js'
import * as Forms from './forms.js'

export type Variable<T> = {
  readonly form: Form<T>
  /** The value of an unset variable, as text. Undefined leaves the value undefined. */
  readonly fallback: string | undefined
  /** The meaning of an unset variable without a fallback. */
  readonly unset?: string
  readonly about: string
  /** Shown when the variable is unset, because unset allows everything. */
  readonly warning?: string
}

const variable = <T>(row: Variable<T>) => row
/** A variable that always has a value. */
const withFallback = <T>(row: Variable<T> & { readonly fallback: string }) => row

export const variables = {
  SVC_PAYER_PK: variable({
    form: Forms.privateKey,
    fallback: undefined,
    unset: 'nothing can be paid; quoting works',
    about: 'Private key of the account that pays.',
  }),
  SVC_RPC_URL: withFallback({
    form: Forms.url,
    fallback: 'http://127.0.0.1:8545',
    about: 'EVM RPC endpoint: chain reads and, in self-transfer mode, the broadcast.',
  }),
  SVC_MODE: withFallback({
    form: Forms.oneOf('permit', 'self-transfer'),
    fallback: 'permit',
    about: '`permit` only signs. `self-transfer` sends the burn and pays its gas.',
  }),
  SVC_TIMEOUT_MS: withFallback({
    form: Forms.milliseconds,
    fallback: '30000',
    about:
      'Longest wait for the complete head of an answer over HTTP, a payment’s included, and for the next piece of its body.',
  }),
  SVC_ALLOWED_HOSTS: withFallback({
    form: Forms.hosts,
    fallback: 'localhost,127.0.0.1',
    about: 'The only hosts that requests leave for, at every redirect. `*` allows all.',
  }),
  SVC_ALLOWED_NETWORK: withFallback({
    form: Forms.network,
    fallback: 'eip155:31337',
    about: 'The only network whose offers are paid.',
  }),
  SVC_ALLOWED_TOKEN: variable({
    form: Forms.address,
    fallback: undefined,
    unset: 'any token on the network',
    about: 'The only token that is spent.',
    warning: 'a seller may ask for any token the account holds',
  }),
  SVC_ALLOWED_HELPER: variable({
    form: Forms.address,
    fallback: undefined,
    unset: 'a helper with the code of our burner',
    about: 'The only helper contract that is signed for.',
  }),
  SVC_MAX_PER_PAYMENT: variable({
    form: Forms.baseUnits,
    fallback: undefined,
    unset: 'no cap',
    about: 'Cap for one payment.',
    warning: 'one payment may cost all the account has',
  }),
  SVC_MAX_TOTAL: variable({
    form: Forms.baseUnits,
    fallback: undefined,
    unset: 'no cap',
    about: 'Cap for all payments together, per network and token, as long as the state folder is kept.',
    warning: 'all payments together may cost all the account has',
  }),
  SVC_MAX_PER_HOST: variable({
    form: Forms.baseUnits,
    fallback: undefined,
    unset: 'no cap',
    about: 'Cap for all payments to one hostname, per network and token.',
  }),
  SVC_MAX_PER_DAY: variable({
    form: Forms.baseUnits,
    fallback: undefined,
    unset: 'no cap',
    about: 'Cap for all payments of the last 24 hours, counted by whole hours, per network and token.',
  }),
  SVC_MAX_GAS_WEI: withFallback({
    form: Forms.wei,
    fallback: `${defaultMaxGasWei}`,
    about: 'The most that the gas of one payment by self-transfer may cost, in wei.',
  }),
  SVC_APPROVE_ABOVE: variable({
    form: Forms.baseUnits,
    fallback: undefined,
    unset: 'nobody is asked',
    about: 'A payment above this amount is made only when a human approves it.',
  }),
  SVC_APPROVAL_TIMEOUT_MS: withFallback({
    form: Forms.milliseconds,
    fallback: '120000',
    about: 'Longest wait for the human. Silence means no.',
  }),
  SVC_PRICE_RISE_PERCENT: variable({
    form: Forms.percent,
    fallback: undefined,
    unset: 'nobody is asked',
    about:
      'A request that costs this many percent more than before is paid only when a human approves it, too.',
  }),
  SVC_STATE_DIR: variable({
    form: Forms.absolutePath,
    fallback: undefined,
    unset: '`$XDG_STATE_HOME/svc-pay`, or `~/.local/state/svc-pay`',
    about: 'Folder of totals, payments and the audit log. Processes that share it share the limits.',
  }),
  SVC_MCP_TOKEN: variable({
    form: Forms.bearerToken,
    fallback: undefined,
    unset: 'one is made at every start and shown on standard error',
    about: 'Bearer token of `svc-pay mcp --http`.',
  }),
  SVC_POLICY_FILE: variable({
    form: Forms.absolutePath,
    fallback: undefined,
    unset: 'no further limits',
    about: 'TOML file with limits that are tighter than those of the environment.',
  }),
  SVC_PROJECT: variable({
    form: Forms.text,
    fallback: undefined,
    unset: 'no project',
    about: 'Which `[projects.<name>]` of the policy file holds, too.',
  }),
} as const

export type VariableName = keyof typeof variables

export const variableNames = Object.keys(variables) as VariableName[]

/**
 * Variables of our other programs. They are not misspelled, and the keys among them are taken out as well.
 */
export const otherPrograms = [
  'SVC_TREASURY_PK',
  'SVC_RELAYER_PK',
  'SVC_ADMIN_TOKEN',
  'SVC_INDEXER_PK',
] as const

/**
 * Whether a variable is removed from the process' environment once it is read: secrets, and names that sound
 * secret.
 */
export const isTakenOut = (name: string): boolean =>
  /^SVC_/.test(name) && (/_PK$|TOKEN$|KEY$|SECRET$/.test(name) ? name !== 'SVC_ALLOWED_TOKEN' : false)
