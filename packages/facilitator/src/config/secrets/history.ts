/** Reads the settings of the payment history from the environment. Never shows a value. */
import { Secret } from '@svc-zerc20/protocol'
import type { PartialConfig } from '../config.js'
import { belongsToHistory, type Environment, historyVariables } from '../environment.js'
import { type Finding, isFailure } from '../finding.js'
import type { HistorySettings, ParticipantBinding } from '../history-settings.js'
import { examineIssuerGroup } from './history-issuer.js'
import { judgeJournal, judgePlaces, judgeUrl } from './history-rules.js'
import { addressOf, nameOf, namesOf, pathOf, type Say, secretOf } from './history-values.js'

export type HistoryReading = {
  /** Absent: the history is not attached, or something failed. */
  readonly history: HistorySettings | undefined
  readonly findings: readonly Finding[]
}

/** @param directory Where relative paths start. */
export function examineHistory(env: Environment, config: PartialConfig, directory = '.'): HistoryReading {
  const findings: Finding[] = []
  const say: Say = (level, key, message) => findings.push({ level, key, message })
  warnOfUnknown(env, say)
  const issuer = examineIssuerGroup(env, directory, say)
  const missing = namesOf('history').filter((name) => !env[name])
  const [first, ...others] = missing
  if (first !== undefined) {
    const also =
      others.length === 0 ? '' : `, and neither ${others.length === 1 ? 'is' : 'are'} ${others.join(', ')}`
    const message = `not set${also}: the payment history is not attached; it needs its whole group of variables`
    if (historyVariables.some(({ name }) => env[name])) say('warn', first, message)
    return { history: undefined, findings }
  }
  const participants = examineParticipants(env, say)
  const secrets = examineIdentity(env, say)
  const path = pathOf(env, 'PAYMENT_HISTORY_PATH', directory, say)
  judgePlaces(path, config, issuer, say)
  judgeUrl(config, say)
  judgeJournal(config, say)
  if (findings.some(isFailure) || !participants || !secrets || path === undefined) {
    return { history: undefined, findings }
  }
  return { history: { path, ...secrets, ...participants, ...(issuer && { issuer }) }, findings }
}

function warnOfUnknown(env: Environment, say: Say): void {
  const known: readonly string[] = historyVariables.map(({ name }) => name)
  for (const name of Object.keys(env).filter((name) => belongsToHistory(name) && !known.includes(name))) {
    say('warn', name, 'no variable of the payment history has this name; it is ignored')
  }
}

function examineParticipants(
  env: Environment,
  say: Say,
): Pick<HistorySettings, 'participants' | 'hasWalletLogin'> | undefined {
  const payer = bindingOf(env, 'PAYER', say)
  const provider = bindingOf(env, 'PROVIDER', say)
  const hasWalletLogin = Boolean(env.HISTORY_PAYER_ADDRESS && env.HISTORY_PROVIDER_ADDRESS)
  const unset = namesOf('wallet').filter((name) => !env[name])
  if (unset.length === 1) {
    say('warn', unset[0] ?? '', 'not set, while the other address is: there is no wallet login without both')
  }
  if (!payer || !provider) return undefined
  if (payer.tenant === provider.tenant && payer.actor === provider.actor) {
    const message = 'is that of the payer, and so is the tenant: payer and provider must be two participants'
    say('fail', 'HISTORY_PROVIDER_ACTOR', message)
  }
  if (payer.address !== undefined && payer.address === provider.address) {
    say('fail', 'HISTORY_PROVIDER_ADDRESS', 'is HISTORY_PAYER_ADDRESS: a login could not tell who it is')
  }
  return { participants: { payer, provider }, hasWalletLogin }
}

function bindingOf(env: Environment, role: 'PAYER' | 'PROVIDER', say: Say): ParticipantBinding | undefined {
  const tenant = nameOf(env, `HISTORY_${role}_TENANT`, say)
  const actor = nameOf(env, `HISTORY_${role}_ACTOR`, say)
  const account = addressOf(env, `HISTORY_${role}_ADDRESS`, say)
  if (tenant === undefined || actor === undefined) return undefined
  return { tenant, actor, ...(account !== undefined && { address: account }) }
}

function examineIdentity(
  env: Environment,
  say: Say,
): Pick<HistorySettings, 'identitySecret' | 'previousIdentitySecret'> | undefined {
  const current = secretOf(env, 'HISTORY_IDENTITY_SECRET', say)
  const name = 'HISTORY_IDENTITY_SECRET_PREVIOUS'
  const previous = env[name] ? secretOf(env, name, say) : undefined
  if (previous !== undefined && previous === env.HISTORY_IDENTITY_SECRET) {
    say('fail', name, 'is HISTORY_IDENTITY_SECRET: nothing was rotated; set a new secret, or unset this one')
  }
  if (current === undefined) return undefined
  return {
    identitySecret: new Secret(current),
    ...(previous !== undefined && { previousIdentitySecret: new Secret(previous) }),
  }
}
