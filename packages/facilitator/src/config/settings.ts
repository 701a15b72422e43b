/** Settings of the parts of the daemon, worked out from the configuration. */
import { isIPv6 } from 'node:net'
import { Network } from '@svc-zerc20/protocol'
import { limits } from './limits.js'
import type { Config, PartialConfig } from './schema.js'

export type Profile = { readonly name: string; readonly acceptsPayments: boolean }

/** Only the explicit setting `local` moves money; nothing is inferred. */
export function profileOf({ profile }: Pick<Config, 'profile'>): Profile {
  return { name: profile ?? 'unset', acceptsPayments: profile === 'local' }
}

/** When payments are minted: alone, and together with others of their epoch; and the pauses after a failure. */
export const paceOf = ({ daemon, finalize, settlement }: Config) => ({
  batch: {
    least: finalize.batch_least,
    floor: settlement.min_amount ?? 0n,
    waitMaxMs: finalize.batch_wait_max_ms,
    jitterMs: finalize.batch_jitter_ms,
  },
  delayMaxMs: finalize.delay_max_ms,
  retryMs: {
    first: daemon.finalize_interval_ms,
    max: daemon.finalize_interval_ms * limits.finalizeBackOffPeriodsMax,
  },
})

/** Why this configuration mints nothing, or undefined when it does. */
export function whyOff({ zerc20 }: Config, profile: Profile): string | undefined {
  if (!profile.acceptsPayments) return `the profile ${profile.name} freezes finalization`
  return zerc20.artifacts === undefined ? 'no proving keys were found (zerc20.artifacts)' : undefined
}

/** Settings that decide how well mints hide among others. */
export const mintSettingsOf = ({ finalize }: Config, ownMinter: boolean) => ({
  mode: finalize.mode,
  delayMaxSeconds: finalize.delay_max_ms / 1_000,
  batchLeast: finalize.batch_least,
  batchWaitMaxSeconds: finalize.batch_wait_max_ms / 1_000,
  ownMinter,
})

/** The fee of new challenges. In split mode no recipient is named: the splitter knows who gets the fee, and nothing is swept. */
export function feeTermsOf({ fee }: Pick<Config, 'fee'>) {
  if (fee === undefined) return undefined
  const { bps, min_per_payment: minPerPayment, charge_to: chargeTo, recipient, splitter } = fee
  const isSwept = splitter === undefined && recipient !== undefined
  return { bps, minPerPayment, chargeTo, ...(isSwept && { recipient }) }
}

const daySeconds = 86_400

/** When fees are sent on. Fees of older payments are swept even if the table is gone. */
export const sweepPaceOf = ({ fee }: Pick<Config, 'fee'>) => ({
  minAmount: fee?.sweep_min ?? 0n,
  intervalMs: (fee?.sweep_interval_secs ?? daySeconds) * 1_000,
})

/** Smaller transfers cost more gas to mint than they bring, in the operator's own words. */
export const dustBelow = ({ settlement }: Config): bigint => {
  const least: bigint = settlement.min_amount ?? 0n
  const relayed: bigint = settlement.relay_min_amount ?? 0n
  return relayed < least ? least : relayed
}

/** Nobody waits for a transfer that was found, so it may be as deep as a mint before it counts. */
export const foundDepth = ({ settlement, finalize }: Config): number =>
  Math.max(settlement.confirmations, finalize.confirmations)

/** How long an issued address is remembered. */
export const issuedRetentionSeconds = ({ settlement }: Config): number =>
  settlement.issued_retention_days * daySeconds

/** The key of a seller. It cannot be mistaken for an address. */
export const sellerKey = (name: string): string => `${sellerPrefix}${name}`
const sellerPrefix = 'seller:'

/** The name of the seller with this key. Undefined for the key of another caller. */
export const sellerIn = (key: string): string | undefined =>
  key.startsWith(sellerPrefix) ? key.slice(sellerPrefix.length) : undefined

/**
 * A seller's requests a minute. A seller serves many payers, so without its own rates it gets a multiple of a
 * stranger's rates. A rate that is off for strangers is off for sellers too.
 */
export const sellerRatesOf = (
  { daemon }: Pick<Config, 'daemon'>,
  seller: Config['sellers'][number],
): { readonly ratePerMin: number; readonly issuancePerMin: number } => ({
  ratePerMin: seller.rate_limit_per_min ?? limits.sellerRateTimes * daemon.rate_limit_per_min,
  issuancePerMin:
    seller.challenge_per_key_per_min ?? limits.sellerRateTimes * daemon.challenge_per_key_per_min,
})

/** How a node is asked. */
export const rpcOptions = (url: string) => ({
  url,
  timeoutMs: limits.rpcTimeoutMs,
  answerBytesMax: limits.rpcAnswerBytesMax,
})

/** Where a daemon that listens there is asked from this machine. */
export function urlOf({ host, port }: { readonly host: string; readonly port: number }): string {
  const reached = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`
}

/**
 * The URL under which participants know this facilitator, without a slash at its end. Tokens, logins and statements name it.
 * @param port The port that was taken, where the configuration leaves it open.
 */
export function historyUrlOf(
  { history, listen }: Pick<Config, 'history' | 'listen'>,
  port: number = listen.port,
): string {
  const host = isIPv6(listen.host) ? `[${listen.host}]` : listen.host
  return history.url ?? `http://${host}:${port}`
}

/** Whether a host in a URL or a bind address is reachable from this machine only. */
export const isLoopback = (host: string): boolean =>
  ['localhost', '::1', '[::1]'].includes(host) || /^127(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}$/.test(host)

/**
 * The conditions that are missing before public keys may be used. All four must hold, because each alone could be a
 * mistake.
 */
export function conditionsMissing({ profile, listen, network }: PartialConfig): string[] {
  const rpcHost = network.rpc_url === undefined ? '' : new URL(network.rpc_url).hostname
  return [
    profile !== 'local' && 'profile = "local"',
    !isLoopback(listen.host ?? '') && 'a loopback listen.host',
    !isLoopback(rpcHost) && 'a loopback host in network.rpc_url',
    network.chain_id !== Network.localChainId && `network.chain_id = ${Network.localChainId}`,
  ].filter((condition) => condition !== false)
}
