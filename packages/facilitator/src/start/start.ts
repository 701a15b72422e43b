/** The composition root: ports meet adapters here and nowhere else. */
import { closeAll } from '@svc-zerc20/daemon'
import { type Clock, inTime, Network } from '@svc-zerc20/protocol'
import { systemClock } from '@svc-zerc20/protocol/system-clock'
import { deriveSeed } from '@svc-zerc20/zk'
import type { FastifyInstance } from 'fastify'
import { createAddresses } from '../addresses/addresses.js'
import type { Config } from '../config/config.js'
import { limits } from '../config/limits.js'
import type { Secrets } from '../config/secrets/secrets.js'
import { profileOf } from '../config/settings.js'
import { systemRandom } from '../system.js'
import type { Log } from '../telemetry/events.js'
import { createTelemetry } from '../telemetry/telemetry.js'
import { openChainSide } from './chain-side.js'
import { createHistorySide } from './history-side.js'
import { createHttpSide } from './http-side.js'
import { keepLeasedSide, type LeasedSideKeeper } from './keep-leased-side.js'
import { createLeasedSide } from './leased-side.js'
import { openSigners } from './payment-flow.js'
import { acceptCopy, openStorage } from './storage.js'

export type Facilitator = { readonly url: string; readonly network: string; close(): Promise<void> }

export type StartOptions = {
  readonly config: Config
  readonly secrets: Secrets
  readonly log: Log
  readonly clock?: Clock
  readonly random?: { bytes(length: number): Uint8Array }
  /** Goes on with a ledger that looks like an old copy. */
  readonly isCopyAccepted?: boolean
}

/** Ends what was opened before a failure. */
export async function startFacilitator(options: StartOptions): Promise<Facilitator> {
  const opened: (() => unknown)[] = []
  try {
    return await start(options, opened)
  } catch (error) {
    await closeAll(opened.toReversed()).catch(() => undefined)
    throw error
  }
}

async function start(options: StartOptions, opened: (() => unknown)[]): Promise<Facilitator> {
  const { config, secrets, clock = systemClock, random = systemRandom } = options
  const profile = profileOf(config)
  const telemetry = createTelemetry({ log: options.log })
  const { log } = telemetry
  const seed = deriveSeed(secrets.treasuryKey.reveal())
  const { isCopyAccepted = false } = options
  const storage = await openStorage({
    config,
    clock,
    log,
    seed,
    isCopyAccepted,
    password: secrets.storagePassword,
    history: secrets.history,
  })
  // Closed last: the parts behind it may still have something to record when they are cut off.
  opened.push(storage.close, telemetry.close)
  const chainSide = await openChainSide({ config, secrets, clock, telemetry })
  const parts = { config, secrets, profile, storage, chainSide, seed, clock, random, telemetry }
  const { rpc, deployment } = chainSide
  opened.push(() => rpc.close())
  const { id: ledgerId } = storage
  // The pool would hold ready addresses that leave with the copy. Several daemons accept it under a lease, later.
  if (storage.isCopy && !storage.shared) await acceptCopy(storage, rpc, log, isCopyAccepted)
  const onError = (err: unknown) => log({ event: 'address.failed', err })
  const addresses = createAddresses({
    config,
    seed,
    ledgerId,
    store: storage.ready,
    shared: storage.shared?.ready,
    random,
    clock,
    onError,
  })
  opened.push(() => addresses.close())
  const { signers, close } = openSigners(parts)
  opened.push(close)
  // The operator spoke of the ledger as it was opened, and not of what is lost later.
  let isSaid = isCopyAccepted
  const keeper: LeasedSideKeeper = await keepLeasedSide({
    leases: storage.store.leases,
    pollMs: limits.leasePollMs,
    make: (active) => createLeasedSide(parts, { addresses, signers }, active),
    isCopy: storage.isCopy && storage.shared !== undefined,
    isOld: () => storage.store.isOld?.() ?? false,
    async acceptCopy(active) {
      await acceptCopy(storage.under([active]), rpc, log, isSaid)
      isSaid = false
    },
    clock,
    log,
  })
  opened.push(keeper.close)
  const historySide = await createHistorySide(parts)

  const app = createHttpSide({ ...parts, historySide, addresses, keeper })
  const { host, port } = config.listen
  const url = await app.listen({ host, port, backlog: limits.listenBacklog })
  const network = Network.format(deployment.chainId)
  const telling = new AbortController()
  tellState(app, log, clock, telling.signal, { url, network, profile: profile.name, ledgerId })
  keeper.start()
  if (!keeper.isActive()) log({ event: 'facilitator.standby' })

  return {
    url,
    network,
    async close() {
      telling.abort()
      const onFailure = (err: unknown) => log({ event: 'work.failed', err })
      await inTime(keeper.handOver().catch(onFailure), limits.leaseMs, clock)
      const drained = [app.close().finally(keeper.drain)]
      await closeInOrder(drained, clock, config.daemon.shutdown_grace_ms, [
        () => app.server.closeAllConnections(),
        ...opened.toReversed(),
      ])
    },
  }
}

/** Logs that the daemon listens, and that it is ready as soon as `/ready` says so: not before there is an address. */
function tellState(
  app: Pick<FastifyInstance, 'inject'>,
  log: Log,
  clock: Clock,
  signal: AbortSignal,
  daemon: { url: string; network: string; profile: string; ledgerId: string },
): void {
  const isReady = () => app.inject('/ready').then(({ statusCode }) => statusCode === 200)
  async function waitUntilReady(): Promise<void> {
    while (!(await isReady())) {
      await clock.sleep(limits.readyPollMs, signal)
      if (signal.aborted) return
    }
    log({ event: 'facilitator.ready', ...daemon })
  }
  log({ event: 'facilitator.listening', ...daemon })
  void waitUntilReady()
}

/** Waits for the parts that drain, at most as long as the grace, and then closes the rest in order. */
async function closeInOrder(
  drained: readonly Promise<unknown>[],
  clock: Clock,
  graceMs: number,
  steps: readonly (() => unknown)[],
): Promise<void> {
  const ends = await inTime(Promise.allSettled(drained), graceMs, clock)
  const failed = ends === 'late' ? [] : ends.filter((end) => end.status === 'rejected')
  await closeAll([
    ...failed.map(
      ({ reason }) =>
        () =>
          Promise.reject(reason),
    ),
    ...steps,
  ])
}
