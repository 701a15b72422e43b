/** One simulated history from one seed: payers come, everything breaks, then all is quiet, and the books must be right. */
import type { Address, ChallengeNonce } from '@svc-zerc20/protocol'
import { limits } from '../../src/config/limits.js'
import { createStoreBooks } from '../../src/store/adapters/operator-questions.js'
import type { StepSettings } from '../../src/store/steps/step-context.js'
import type { Log } from '../../src/telemetry/events.js'
import { createChain } from './chain.js'
import { startDaemon } from './daemon.js'
import { openDatabase } from './database.js'
import { createDraws } from './draws.js'
import { calm, drawFaults, drawTerms } from './faults.js'
import { createNetwork } from './node.js'
import { createUnrest } from './rest.js'
import { createRules } from './rules.js'
import { createShop, type Host } from './shop.js'
import { linkTo } from './store-link.js'
import { createProcess, createTimeline, type Timeline } from './timeline.js'
import { createTrace } from './trace.js'

/** What a line of the log tells of a burn. */
type Reported = { readonly event: string; readonly challengeNonce?: ChallengeNonce; readonly err?: unknown }

export type Outcome = {
  readonly seed: number
  readonly violation?: string
  readonly payments: number
  readonly served: number
  readonly events: number
  /** The same for two runs of one seed. */
  readonly fingerprint: string
  /** The newest lines. */
  readonly trace: readonly string[]
}

const settings: StepSettings = {
  openMax: 10_000,
  openOfSellers: new Map(),
  expiredRetentionSeconds: 86_400,
  unmatchedMax: { perChallenge: 8, total: 10_000 },
  foundPerAddressMax: 32,
}

const activeMs = 45_000
/** After this long without faults everything must have come to its end. */
const quietMs = 60 * 60_000
const lookMs = 10_000

export async function simulate(
  seed: number,
  { isTold = () => undefined }: { isTold?: (line: string) => void } = {},
): Promise<Outcome> {
  const draws = createDraws(seed)
  const timeline = createTimeline()
  const startedMs = timeline.now()
  const terms = drawTerms(draws)
  const faults = drawFaults(draws, terms)
  // Nodes that are behind or do not answer, and steps without an answer, let a burn be sent twice. That costs gas and burns
  // nothing.
  const isHonest = faults.lagging + faults.lost + faults.refused + faults.stepsUnanswered === 0
  const daemons = draws.oneOf([1, 1, 2, 3])
  const isShared = daemons > 1
  const isKeyShared = faults.usurpEveryMs > 0
  let boots = 0
  const account = `0x${'c0'.repeat(20)}` as Address
  const trace = createTrace(timeline.now, isTold)
  trace.tell(`seed ${seed} ${JSON.stringify({ daemons, ...terms, ...faults })}`)
  const chain = createChain({
    draws,
    timeline,
    faults,
    onBlock(what, block) {
      trace.tell(`${what} ${block.number} with ${block.mined.length}`)
      rules.onBlock(what, block)
    },
  })
  const rules = createRules({ chain, now: timeline.now, terms, sender: (address) => address === account })
  const onSent: Parameters<typeof createNetwork>[0]['onSent'] = (sent) => {
    trace.tell(`sent ${sent.txNonce} ${sent.data.length}`)
    rules.onSent(sent)
  }
  const network = createNetwork({ chain, draws, timeline, faults, onSent })
  const database = openDatabase({
    settings: { steps: settings, keepSigned: { blocks: terms.reorgWatchBlocks } },
    now: timeline.now,
  })
  const hosts: Host[] = []
  const payers = Array.from({ length: draws.between(2, 6) }, (_, i) => `0x${`d${i}`.repeat(20)}` as Address)
  for (const payer of payers) chain.fund(payer, BigInt(draws.oneOf([1_000, 100_000])))

  function boot(host: Host): void {
    const process = createProcess(timeline, faults.skewMs)
    host.process = process
    host.daemon = undefined
    const report = (({ event, challengeNonce, err }: Reported) => {
      trace.tell(`${host.name} ${event} ${challengeNonce?.slice(0, 10) ?? ''}${err ? ` ${err}` : ''}`)
      if (event === 'burn.interrupted' && challengeNonce) rules.onBrokenOff(challengeNonce)
    }) as Log
    const kill = () => die(host, process, 'at a step')
    boots += 1
    const link = linkTo({
      database,
      process,
      timeline,
      draws,
      faults,
      kill,
      stop: () => standStill(host),
      ...(isShared && { holder: `${host.name}, run ${boots}` }),
      onStep(name, args, outcome) {
        trace.tell(`${host.name} step ${name} ${typeof outcome === 'string' ? outcome : ''}`)
        rules.onStep(name, args, outcome)
      },
    })
    startDaemon({
      process,
      store: link,
      chain,
      network,
      draws,
      terms,
      settings,
      relayer: account,
      isKeyShared,
      report,
    }).then(
      (daemon) => {
        trace.tell(`${host.name} serves`)
        host.daemon = daemon
      },
      (error) => die(host, process, `at its start: ${error}`),
    )
  }

  function standStill({ name, process }: Host): void {
    process.stop()
    trace.tell(`${name} stands still`)
    timeline.after(draws.between(1_000, 4 * limits.leaseMs), process.goOn)
  }

  function die(host: Host, process: Host['process'], how: string): void {
    if (!process.isAlive()) return
    trace.tell(`${host.name} dies ${how}`)
    process.kill()
    host.daemon = undefined
    for (const breakOff of [...host.open]) breakOff()
    const hasHeir = hosts.some((other) => other !== host && !other.isGone)
    host.isGone = hasHeir && draws.happens(faults.deadForGood)
    if (host.isGone) trace.tell(`${host.name} is gone for good`)
    else timeline.after(draws.between(200, 8_000), () => boot(host))
  }

  const clock = createProcess(timeline, 0).clock
  const shop = createShop({
    hosts,
    chain,
    draws,
    timeline,
    clock,
    faults,
    rules,
    payers,
    trace: trace.tell,
    slowShare: isShared ? 0.04 : 0.15,
  })
  /** Only waits of minutes are left: blocks come seldom. */
  const isAsleep = () => timeline.now() >= startedMs + activeMs + 120_000
  const isQuiet = () => timeline.now() >= startedMs + activeMs

  /** Repeats something, as long as there are faults. */
  function repeat(everyMs: number, act: () => void): void {
    if (everyMs === 0) return
    timeline.after(draws.between(everyMs / 4, everyMs * 1.75), () => {
      if (isQuiet()) return
      act()
      repeat(everyMs, act)
    })
  }

  const blockMs = draws.oneOf([1_000, 2_000, 6_000])
  const mine = () => {
    chain.mine()
    const ms = isAsleep() ? 12_000 : blockMs
    timeline.after(draws.between(ms / 2, ms * 1.5), mine)
  }
  mine()
  for (let i = 0; i < daemons; i++) {
    const host: Host = {
      name: `daemon ${i}`,
      process: createProcess(timeline, 0),
      open: new Set(),
    }
    hosts.push(host)
    boot(host)
  }
  repeat(faults.killEveryMs, () => {
    const host = draws.oneOf(hosts)
    die(host, host.process, 'suddenly')
  })
  repeat(faults.stopEveryMs, () => standStill(draws.oneOf(hosts)))
  repeat(faults.reorgEveryMs, () => chain.reorg(draws.between(1, faults.reorgDepthMax)))
  repeat(faults.evictEveryMs, chain.evict)
  repeat(faults.usurpEveryMs, () => {
    rules.onUsurped(account, chain.usedAt(chain.tip(), account))
    chain.usurp(account)
  })
  const visits = draws.between(4, 30)
  for (let i = 0; i < visits; i++) {
    timeline.after(draws.between(0, activeMs * 0.8), () => {
      shop.visit().catch((error) => rules.broken(`a payer failed: ${error}`))
    })
  }
  timeline.after(activeMs, () => {
    trace.tell('quiet')
    calm(faults)
    chain.calm()
  })

  let events = 0
  let isSettled = false
  let unsettled: string | undefined
  let seeing = 0
  const at = () => ({ now: Math.floor(timeline.now() / 1000), settings })
  const books = createStoreBooks({ ask: async (question) => database.ask(question) }, at)
  const unrest = createUnrest({ database, books, chain, rules, hosts })
  const look = async () => {
    unsettled = await unrest()
    if (unsettled === undefined) seeing += 1
    else seeing = 0
    // Twice, so that nothing was only about to begin.
    isSettled = seeing >= 2
    timeline.after(lookMs, () => void look())
  }
  timeline.after(activeMs + lookMs, () => void look())

  await inVirtualTime(timeline, () =>
    timeline.run(() => {
      events += 1
      if (timeline.now() > startedMs + activeMs + quietMs) rules.broken(`does not come to rest: ${unsettled}`)
      return isSettled || rules.violation() !== undefined
    }),
  )
  if (isSettled && isHonest) rules.checkRelayedOnce()
  database.close()
  const all = [...rules.purchases.values()]
  const violation = rules.violation()?.message
  if (violation !== undefined) trace.tell(`VIOLATION ${violation}`)
  return {
    seed,
    payments: all.length,
    served: all.filter(({ served }) => served.length > 0).length,
    events,
    ...(violation !== undefined && { violation }),
    fingerprint: trace.fingerprint(),
    trace: trace.lines,
  }
}

/**
 * How long a grant was held is asked of the clock that cannot be set. Here it is virtual, too, and so is the next turn of the
 * loop: a real one costs as much as all that happens in it. Errors are part of every history, and nobody reads where they
 * come from.
 */
async function inVirtualTime(
  timeline: Pick<Timeline, 'now' | 'atOnce'>,
  work: () => Promise<void>,
): Promise<void> {
  const { now } = performance
  const { stackTraceLimit } = Error
  const { setImmediate } = globalThis
  performance.now = timeline.now
  globalThis.setImmediate = timeline.atOnce as never
  Error.stackTraceLimit = 0
  try {
    await work()
  } finally {
    performance.now = now
    globalThis.setImmediate = setImmediate
    Error.stackTraceLimit = stackTraceLimit
  }
}
