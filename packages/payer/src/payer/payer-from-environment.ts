/** The payer that an environment describes: the one of the command line and of the tools. */
import { SvcError } from '@svc-zerc20/protocol'
import { privateKeyToAccount } from 'viem/accounts'
import type { Approver } from '../approval/approval.js'
import { type Clock, systemClock } from '../clock.js'
import { readPolicyFile } from '../environment/policy-file.js'
import { type Environment, readEnvironment, type Settings } from '../environment/read-environment.js'
import { stateFolder } from '../environment/state-folder.js'
import { type Policy, tighten } from '../policy/policy.js'
import type { PayerParts } from './assemble-payer.js'

export type EnvironmentParts = {
  readonly parts: PayerParts & { readonly stateFolder: string }
  readonly warnings: readonly string[]
}

/** @throws SvcError `payer_misconfigured` */
export function partsFromEnvironment(
  environment: Environment,
  {
    approver,
    fetch = globalThis.fetch,
    clock = systemClock,
  }: {
    /** Gets the state folder, because some approvers ask there. */
    readonly approver?: (folder: string) => Approver | undefined
    readonly fetch?: typeof globalThis.fetch
    readonly clock?: Clock
  } = {},
): EnvironmentParts {
  const { settings, warnings } = readEnvironment(environment)
  const key = settings.SVC_PAYER_PK
  const account = key && privateKeyToAccount(key.reveal())
  const folder = stateFolder(settings.SVC_STATE_DIR, environment)
  const policy = policyOf(settings, account?.address)
  const parts = {
    account,
    rpcUrl: settings.SVC_RPC_URL,
    mode: settings.SVC_MODE,
    fallback: undefined,
    policy,
    stateFolder: folder,
    timeoutMs: settings.SVC_TIMEOUT_MS,
    approver: approver?.(folder),
    fetch,
    clock,
    limits: undefined,
  }
  return { parts, warnings: warnings.filter((warning) => !isAnswered(warning, policy)) }
}

/** Whether the policy has what a warning misses: from its file, or by a cap that bounds a single payment, too. */
function isAnswered(warning: string, policy: Policy): boolean {
  const { allowedTokens, maxAmountPerPayment, maxTotal, maxPerHost, maxPerDay } = policy
  const answers: readonly (readonly [string, unknown])[] = [
    ['SVC_ALLOWED_TOKEN', allowedTokens],
    ['SVC_MAX_PER_PAYMENT', maxAmountPerPayment ?? maxTotal ?? maxPerHost ?? maxPerDay],
    ['SVC_MAX_TOTAL', maxTotal],
  ]
  return answers.some(([name, value]) => value !== undefined && warning.startsWith(`${name} is unset`))
}

function policyOf(settings: Settings, account: string | undefined): Policy {
  const {
    SVC_ALLOWED_TOKEN: token,
    SVC_ALLOWED_HELPER: helper,
    SVC_POLICY_FILE: file,
    SVC_PROJECT: project,
  } = settings
  if (file === undefined && project !== undefined) {
    throw new SvcError(
      'payer_misconfigured',
      'SVC_PROJECT: there is no SVC_POLICY_FILE that could have the project',
    )
  }
  const policy: Policy = {
    network: settings.SVC_ALLOWED_NETWORK,
    hosts: settings.SVC_ALLOWED_HOSTS,
    allowedTokens: token && [token],
    allowedHelpers: helper && [helper],
    maxAmountPerPayment: settings.SVC_MAX_PER_PAYMENT,
    maxTotal: settings.SVC_MAX_TOTAL,
    maxPerHost: settings.SVC_MAX_PER_HOST,
    maxPerDay: settings.SVC_MAX_PER_DAY,
    maxGasWei: settings.SVC_MAX_GAS_WEI,
    approveAbove: settings.SVC_APPROVE_ABOVE,
    approvalTimeoutMs: settings.SVC_APPROVAL_TIMEOUT_MS,
    priceRisePercent: settings.SVC_PRICE_RISE_PERCENT,
  }
  const limits = file === undefined ? [] : readPolicyFile(file, { account, project })
  return limits.reduce(tighten, policy)
}
