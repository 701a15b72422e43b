/**
 * The problems that keep the daemon from taking payments now: a probe for each part, and a judge that makes problems of its
 * facts. The words say nothing a stranger should not know: no URL, no address, no balance.
 */
import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type Clock, inTime } from '@svc-zerc20/protocol'
import type { AddressPool } from '../../addresses/pool.js'
import type { ChainProbe, ChainView } from '../../chain/probe.js'
import type { Config } from '../../config/config.js'
import { limits } from '../../config/limits.js'
import type { Profile } from '../../config/settings.js'
import type { Deployment } from '../../payment/ports.js'
import type { OpenLedger } from '../../store/open.js'
import type { ClockWatch } from './clock-watch.js'

export type ReadinessProblem = {
  readonly part: 'standby' | 'chain' | 'clock' | 'relayer' | 'addresses' | 'ledger'
  readonly problem: string
}

/** Looks at one part. Each part that affects readiness adds a probe. */
export type ReadinessProbe = () => readonly ReadinessProblem[] | Promise<readonly ReadinessProblem[]>

/** All parts at once, in order. */
export async function askAll(probes: readonly ReadinessProbe[]): Promise<readonly ReadinessProblem[]> {
  return (await Promise.all(probes.map((probe) => probe()))).flat()
}

/** Gas of the smallest transaction of each kind. A relayer that cannot pay for it cannot send any. */
const gasOf = { burn: limits.batchBaseGas + limits.burnItemGas, mint: limits.mintGas } as const

/** The parts that readiness looks at, in the order in which it names them. */
export function createReadinessProbes(deps: {
  readonly config: Config
  readonly profile: Profile
  readonly deployment: Pick<Deployment, 'helper' | 'chainId'>
  readonly storage: Pick<OpenLedger, 'figures' | 'tryDisk'>
  readonly addresses: Pick<AddressPool, 'ready'>
  /** Why nothing is minted here. Undefined when mints are made. */
  readonly finalizeOff: string | undefined
  readonly clock: Clock
  readonly probe: ChainProbe
  readonly clockWatch: ClockWatch
  readonly diskSpace: DiskSpace
}): readonly ReadinessProbe[] {
  const { probe, clockWatch, config } = deps
  const { helper, chainId } = deps.deployment
  const skewSecondsMax = Math.max(config.settlement.challenge_ttl_seconds / 2, limits.clockSkewSecondsMin)
  const relays = [
    ...(helper !== undefined && deps.profile.acceptsPayments ? (['burn'] as const) : []),
    ...(deps.finalizeOff === undefined ? (['mint'] as const) : []),
  ].map((what) => ({ what, gas: gasOf[what] }))

  return [
    async () => judgeChain(await probe.view(), chainId),
    async () => {
      // On another chain, its time and our balance there mean nothing.
      const view = await probe.view()
      if (!view.reachable || view.chainId !== chainId) return []
      return [...judgeClock(clockWatch.skewSeconds(), skewSecondsMax), ...judgeRelayer(view, relays)]
    },
    () => judgeAddresses(deps.addresses.ready()),
    createJournalProbe(deps),
  ]
}

/**
 * A failed write stays a problem until a write succeeds. A balancer sends the traffic elsewhere meanwhile, so each
 * question about readiness tries the disk again.
 */
function createJournalProbe({
  storage,
  clock,
  diskSpace,
}: Pick<Parameters<typeof createReadinessProbes>[0], 'storage' | 'clock' | 'diskSpace'>): ReadinessProbe {
  let trying: Promise<void> | undefined
  let triedAtMs = Number.NEGATIVE_INFINITY
  const hasFailed = () => storage.figures()?.failed === true

  async function tryAgain(): Promise<void> {
    if (!trying && Math.abs(clock.now() - triedAtMs) < limits.journalRetryAfterMs) return
    trying ??= storage
      .tryDisk()
      // The journal reported the failure itself, and shows it in its figures.
      .catch(() => undefined)
      .finally(() => {
        triedAtMs = clock.now()
        trying = undefined
      })
    await inTime(trying, limits.journalTryWaitMs, clock)
  }

  return async () => {
    const isLost = storage.figures()?.lost === true
    if (hasFailed() && !isLost) await tryAgain()
    return judgeJournal({
      isLost,
      hasFailed: hasFailed(),
      freeBytes: await diskSpace(),
      freeBytesMin: limits.journalFreeBytesMin,
    })
  }
}

export function judgeChain(chain: ChainView, chainId: number): ReadinessProblem[] {
  if (!chain.reachable) return [{ part: 'chain', problem: 'the RPC does not answer' }]
  return chain.chainId === chainId ? [] : [{ part: 'chain', problem: 'the RPC serves another chain' }]
}

export function judgeRelayer(
  chain: ChainView,
  /** Units of gas that must be paid for: burns by the relayer, mints by the minter when it has a key. */
  relays: readonly { readonly what: 'burn' | 'mint'; readonly gas: bigint }[],
): ReadinessProblem[] {
  if (!chain.reachable) return []
  const { relayerBalance, minterBalance } = chain
  const unpaid = relays.find(({ what, gas }) => {
    const balance = what === 'mint' ? (minterBalance ?? relayerBalance) : relayerBalance
    return balance < gas * chain.feePerGas
  })
  if (!unpaid) return []
  const who = unpaid.what === 'mint' && minterBalance !== undefined ? 'minter' : 'relayer'
  return [{ part: 'relayer', problem: `the ${who} cannot pay for a ${unpaid.what}` }]
}

/** A small difference is ordinary. A difference of half a challenge's life is a problem. */
export function judgeClock(skewSeconds: number | undefined, skewSecondsMax: number): ReadinessProblem[] {
  if (skewSeconds === undefined || Math.abs(skewSeconds) <= skewSecondsMax) return []
  return [
    skewSeconds < 0
      ? { part: 'clock', problem: "this machine's clock is behind the chain" }
      : { part: 'clock', problem: "this machine's clock is ahead of the chain, or the node lags" },
  ]
}

export const judgeAddresses = (ready: number): ReadinessProblem[] =>
  ready > 0 ? [] : [{ part: 'addresses', problem: 'no burn address is ready' }]

export function judgeJournal(facts: {
  /** Its file was removed or replaced under the daemon. */
  readonly isLost: boolean
  /** The last write failed, and none succeeded since. */
  readonly hasFailed: boolean
  /** Undefined when the system does not tell. */
  readonly freeBytes: number | undefined
  readonly freeBytesMin: number
}): ReadinessProblem[] {
  if (facts.isLost) return [{ part: 'ledger', problem: 'the journal is gone from its place' }]
  if (facts.hasFailed) return [{ part: 'ledger', problem: 'the ledger cannot be written' }]
  const isFull = facts.freeBytes !== undefined && facts.freeBytes < facts.freeBytesMin
  return isFull ? [{ part: 'ledger', problem: 'the disk under the journal is nearly full' }] : []
}

export type DiskSpace = () => Promise<number | undefined>

/** Bytes that an ordinary user may still write; undefined when the system does not tell. */
export function createDiskSpace(file: string): DiskSpace {
  return async () => {
    try {
      const { bavail, bsize } = await statfs(dirname(file))
      return bavail * bsize
    } catch {
      return undefined
    }
  }
}
