/** The histories that the command plays: each way of minting, alone on the token and among other facilitators. */
import { readMarks } from '../observe/marks.js'
import { observe } from '../observe/observe.js'
import { type Batches, createBatch } from '../simulate/batch.js'
import type { Facilitator } from '../simulate/facilitator.js'
import type { Random } from '../simulate/random.js'
import { createSingle } from '../simulate/single.js'
import { attacker, simulate, type Traffic } from '../simulate/world.js'
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
  readonly marked: Marked
  /** How many times less often a batch is linked than single mints without delay, alone on the token. */
  readonly factor: number
}

/** Who marks burns, and how often the sums then name the recipient of a marked one. */
export type Marked = {
  readonly marks: number
  /** Base units. */
  readonly cost: bigint
  /** By default, and with `settlement.mint_second_transfers`. */
  readonly namedByDefault: number
  readonly namedIfCounted: number
}

const few = 100

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

const gcd = (one: bigint, other: bigint): bigint => (other === 0n ? one : gcd(other, one % other))

/** As many addresses are marked as the step of the prices has room for. */
export function playMarks(settings: Settings): Marked {
  const step = settings.traffic.prices.reduce(gcd)
  const marks = Math.min(step.toString(2).length - 1, settings.traffic.payments)
  const among = { facilitators: settings.facilitators, selfTransfers: 1, ownMinterKey: false }
  const named = (areCounted: boolean): number => {
    const traffic = { ...settings.traffic, ...among, marks: { count: marks, areCounted } }
    const { view, truth } = simulate(traffic, createBatch(settings.batches), settings.seed)
    const recipientOf = new Map(
      view.mints.flatMap(({ leaf, to }) => (truth.get(leaf) ?? []).map((burn) => [burn, to] as const)),
    )
    const names = readMarks(view, attacker, step)
    const burns = view.transfers.filter(({ from, to }) => from !== attacker && names.has(to))
    const right = burns.filter(({ leaf, to }) => recipientOf.get(leaf) === names.get(to))
    return marks === 0 ? 0 : right.length / marks
  }
  const cost = 2n ** BigInt(marks) - 1n
  return { marks, cost, namedByDefault: named(false), namedIfCounted: named(true) }
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
  return { alone, among, marked: playMarks(settings), factor }
}
