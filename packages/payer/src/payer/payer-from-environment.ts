/** The payer that an environment describes: the one of the command line and of the tools. */
import { systemClock } from '@svc-zerc20/protocol/system-clock'
import { privateKeyToAccount } from 'viem/accounts'
import { stateFolder } from '../environment/env.js'
import { type Environment, policyOf, readEnvironment } from '../environment/variables.js'
import { limitsFor } from '../limits.js'
import type { Approver } from '../policy/approval.js'
import type { Policy } from '../policy/policy.js'
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
  const { SVC_PAYER_PK: key } = settings
  const policy = policyOf(settings)
  const folder = stateFolder(settings.SVC_STATE_DIR, environment)
  const limits = limitsFor(settings.SVC_TIMEOUT_MS)
  const parts = {
    account: key && privateKeyToAccount(key.reveal()),
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

/** Whether another cap bounds what a warning says has none: each cap of several payments bounds a single one, too. */
const isAnswered = (warning: string, { maxTotal, maxPerHost, maxPerDay }: Policy): boolean =>
  warning.startsWith('SVC_MAX_PER_PAYMENT is unset') && (maxTotal ?? maxPerHost ?? maxPerDay) !== undefined
