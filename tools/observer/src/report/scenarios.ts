/** The histories that the command plays: each way of minting, alone on the token and among other facilitators. */
import { observe } from '../observe/observe.js'
import { nameSurrounded } from '../observe/surround.js'
import { type Batches, createBatch } from '../simulate/batch.js'
import type { Facilitator } from '../simulate/facilitator.js'
import type { Random } from '../simulate/random.js'
import { createSingle } from '../simulate/single.js'
import { isSurrounder, simulate, type Traffic } from '../simulate/world.js'
import { type Score, score } from './score.js'

export type Settings = {
  readonly seed: string
  readonly traffic: Omit<Traffic, 'facilitators' | 'selfTransfers' | 'ownMinterKey'>
  /** Facilitators on the token in the second table. */
  readonly facilitators: number
  /** `finalize.delay_max_ms` values, in seconds, beside no delay. */
  readonly delaysSeconds: readonly number[]
  readonly batches: Batches
}

export type Scenario = { readonly name: string; readonly score: Score }

export type Results = {
  readonly alone: readonly Scenario[]
  readonly among: readonly Scenario[]
  /** The same facilitators, whose payers send their burns and come back. */
  readonly returning: readonly Scenario[]
  readonly surrounded: readonly Surrounded[]
  /** How many times less often a batch is linked than single mints without delay, alone on the token. */
  readonly factor: number
}

/** Who surrounds a payment with its own, and how often that names whom the payment paid. */
export type Surrounded = {
  readonly accounts: number
  readonly payments: number
  /** Base units: what those payments come to. */
  readonly cost: bigint
  readonly runs: number
  readonly named: number
  /** The median time from the payment until the mint that names it. */
  readonly afterSeconds: number | undefined
}

const few = 100
const surroundRuns = 20
/** Payments before the other one, and as many after it. One proof holds 30. */
const surroundEach = [15, 20, 25, 30]

type CreateFacilitator = (random: Random) => Facilitator

function play(
  settings: Settings,
  name: string,
  createFacilitator: CreateFacilitator,
  changes: Partial<Traffic> = {},
): Scenario {
  const usual = { facilitators: 1, selfTransfers: 0, ownMinterKey: false }
  const traffic = { ...settings.traffic, ...usual, ...changes }
  const { view, truth } = simulate(traffic, createFacilitator, settings.seed)
  return { name, score: score(observe(view), truth) }
}

/** The comparison that has a target: single mints without delay, and batches, of the same payments. */
export function compareModes(settings: Settings): {
  readonly single: Scenario
  readonly batch: Scenario
  readonly factor: number
} {
  const single = play(settings, 'single, no delay', createSingle(0))
  const batch = play(settings, 'batch', createBatch(settings.batches))
  return { single, batch, factor: single.score.linked / batch.score.linked }
}

/** Accounts that come back, each to one provider. */
export function playReturning(settings: Settings): readonly Scenario[] {
  const { batches, facilitators } = settings
  const { payments } = settings.traffic
  const comeBack = {
    facilitators,
    selfTransfers: 1,
    payments: 3 * payments,
    accounts: Math.ceil(payments / 10),
  }
  return [
    play(settings, 'single, no delay', createSingle(0), comeBack),
    play(settings, 'batch', createBatch(batches), comeBack),
  ]
}

/**
 * What it costs to surround a payment: from one account, and from as few as make a company. Payers send their burns, so that
 * nothing but the sums names a recipient.
 */
const playSurrounded = (settings: Settings): readonly Surrounded[] =>
  [...new Set([1, settings.batches.least])].flatMap((accounts) =>
    surroundEach.map((each) => surround(settings, { each, accounts })),
  )

export function surround(
  { batches, facilitators, seed, traffic }: Settings,
  { each, accounts }: { readonly each: number; readonly accounts: number },
): Surrounded {
  const value = batches.floor > 0n ? batches.floor : 1n
  const changes = {
    facilitators,
    selfTransfers: 1,
    ownMinterKey: false,
    surround: { each, accounts, value },
  }
  const times = Array.from({ length: surroundRuns }, (_, run) => {
    const { view } = simulate({ ...traffic, ...changes }, createBatch(batches), `${seed}/${run}`)
    const own = view.transfers.filter(({ from }) => isSurrounder(from))
    return nameSurrounded(view, (own[each - 1]?.leaf ?? 0) + 1, isSurrounder)
  }).filter((time) => time !== undefined)
  const payments = 2 * each
  const afterSeconds = times.toSorted((one, other) => one - other)[times.length >> 1]
  return {
    accounts,
    payments,
    cost: BigInt(payments) * value,
    runs: surroundRuns,
    named: times.length,
    afterSeconds,
  }
}

export function playScenarios(settings: Settings): Results {
  const { batches, traffic, delaysSeconds } = settings
  const { single, batch, factor } = compareModes(settings)
  const quiet = `1/${few} of the payments a minute`
  const fewer = { perMinute: traffic.perMinute / few }
  const neverWaiting = { ...batches, least: 1 }
  const alone = [
    single,
    ...delaysSeconds.map((delay) => play(settings, `single, delay up to ${delay} s`, createSingle(delay))),
    batch,
    play(settings, `single, no delay, ${quiet}`, createSingle(0), fewer),
    play(settings, `batch, ${quiet}`, createBatch(batches), fewer),
    play(settings, `batch, ${quiet}, batch_least = 1`, createBatch(neverWaiting), fewer),
  ]
  const { facilitators } = settings
  const ways = [
    { name: 'relayed, one key for burns and mints', changes: { facilitators } },
    { name: 'relayed, mints from a key of their own', changes: { facilitators, ownMinterKey: true } },
    { name: 'payers send their burns', changes: { facilitators, selfTransfers: 1 } },
  ]
  const among = ways.flatMap(({ name, changes }) => [
    play(settings, `single, no delay; ${name}`, createSingle(0), changes),
    play(settings, `batch; ${name}`, createBatch(batches), changes),
  ])
  return {
    alone,
    among,
    returning: playReturning(settings),
    surrounded: playSurrounded(settings),
    factor,
  }
}
