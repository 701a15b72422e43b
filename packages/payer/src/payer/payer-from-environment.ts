/** The payer that an environment describes: the one of the command line and of the tools. */
import { SvcError } from '@svc-zerc20/protocol'
import { systemClock } from '@svc-zerc20/protocol/system-clock'
import { privateKeyToAccount } from 'viem/accounts'
import { stateFolder } from '../environment/env.js'
import { readPolicyFile } from '../environment/policy-file.js'
import { type Environment, policyOf, readEnvironment } from '../environment/variables.js'
import { limitsFor } from '../limits.js'
import type { Approver } from '../policy/approval.js'
import { type Policy, tighten } from '../policy/policy.js'
import { openState } from '../state/open-state.js'
import { assemblePayer, type Payer, type PayerParts } from './assemble-payer.js'

export type EnvironmentParts = {
  readonly parts: PayerParts
  /** The state folder. */
  readonly folder: string
  /** One sentence for each choice that was not made. Show them where the operator looks. */
  readonly warnings: readonly string[]
}

/** @throws SvcError `payer_misconfigured` */
export function partsFromEnvironment(
  environment: Environment,
  {
    approver,
    fetch = globalThis.fetch,
  }: {
    /** Gets the state folder, because some approvers ask there. */
    readonly approver?: (folder: string) => Approver | undefined
    readonly fetch?: typeof globalThis.fetch
  } = {},
): EnvironmentParts {
  const { settings, warnings } = readEnvironment(environment)
  const { SVC_PAYER_PK: key, SVC_POLICY_FILE: file, SVC_PROJECT: project } = settings
  if (file === undefined && project !== undefined) {
    const fault = 'SVC_PROJECT: there is no SVC_POLICY_FILE that could have the project'
    throw new SvcError('payer_misconfigured', fault)
  }
  const account = key && privateKeyToAccount(key.reveal())
  const tighter = file === undefined ? [] : readPolicyFile(file, { account: account?.address, project })
  const policy = tighter.reduce(tighten, policyOf(settings))
  const folder = stateFolder(settings.SVC_STATE_DIR, environment)
  const limits = limitsFor(settings.SVC_TIMEOUT_MS)
  const parts = {
    account,
    rpcUrl: settings.SVC_RPC_URL,
    mode: settings.SVC_MODE,
    fallback: undefined,
    policy,
    state: openState({ folder, clock: systemClock, limits }),
    approver: approver?.(folder),
    fetch,
    clock: systemClock,
    limits,
  }
  return { parts, folder, warnings: warnings.filter((warning) => !isAnswered(warning, policy)) }
}

/**
 * Creates the payer of an environment, the one of `svc-pay`, for a program.
 *
 * @throws SvcError `payer_misconfigured`
 */
export function createPayerFromEnvironment(
  environment: Environment,
): Pick<EnvironmentParts, 'warnings'> & { readonly payer: Payer } {
  const { parts, warnings } = partsFromEnvironment(environment)
  return { payer: assemblePayer(parts), warnings }
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
