/** The parts that readiness looks at, in the order in which it names them. */
import { type Clock, inTime } from '@svc-zerc20/protocol'
import type { AddressPool } from '../../addresses/pool.js'
import type { ChainProbe } from '../../chain/probe.js'
import type { Config } from '../../config/config.js'
import { limits } from '../../config/limits.js'
import type { Profile } from '../../config/settings.js'
import type { Deployment } from '../../payment/ports.js'
import type { OpenLedger } from '../../store/open.js'
import type { ClockWatch } from './clock-watch.js'
import type { DiskSpace } from './disk-space.js'
import {
  judgeAddresses,
  judgeChain,
  judgeClock,
  judgeJournal,
  judgeRelayer,
  type ReadinessProbe,
} from './readiness.js'

/** Gas of the smallest transaction of each kind. A relayer that cannot pay for it cannot send any. */
const gasOf = { burn: limits.batchBaseGas + limits.burnItemGas, mint: limits.mintGas } as const

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
