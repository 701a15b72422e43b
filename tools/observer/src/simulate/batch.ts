/**
 * `finalize.mode = "batch"`: offers of one epoch share a recipient hash. Their burns are minted together when they are
 * company for each other, or when the first has waited long enough. As the daemon decides, in `payment/epochs`.
 */
import { batchRange, fittingLeaves } from '@svc-zerc20/zk'
import type { AcceptedBurn, Facilitator, SimulatedMint } from './facilitator.js'
import type { Random } from './random.js'

/** The keys of `[finalize]`, in seconds. */
export type Batches = {
  readonly epochSeconds: number
  /** So many accounts, each with at least `floor` base units. */
  readonly least: number
  readonly floor: bigint
  readonly waitMaxSeconds: number
  readonly jitterSeconds: number
}

type Epoch = {
  waiting: AcceptedBurn[]
  /** Leaves below it are counted. */
  checkpoint: number
  /** Each in [0, 1), drawn once for each mint: when it comes, and where it ends. */
  time: number
  place: number
  completeAt: number | undefined
}

export function createBatch(batches: Batches): (random: Random) => Facilitator {
  return (random) => {
    const draw = () => ({ time: random.fraction(), place: random.fraction(), completeAt: undefined })
    const epochs = new Map<number, Epoch>()
    return {
      accept(burn) {
        const number = Math.floor(burn.offeredAt / batches.epochSeconds)
        const epoch = epochs.get(number) ?? { waiting: [], checkpoint: 0, ...draw() }
        epoch.waiting.push(burn)
        epochs.set(number, epoch)
      },
      mint: (now, rootSize) =>
        [...epochs.values()].flatMap((epoch) => {
          const mints: SimulatedMint[] = []
          let due = dueFor(epoch, batches, now)
          while (due !== undefined) {
            const mint = nextMint(epoch, rootSize, due === 'company' ? batches : undefined)
            if (mint === undefined) break
            mints.push(mint)
            Object.assign(epoch, draw())
            // Proof after proof, as long as those that are left are company for each other.
            due = companyAfter(covered(epoch, rootSize), batches) === undefined ? undefined : 'company'
          }
          return mints
        }),
    }
  }
}

const covered = ({ waiting }: Epoch, rootSize: number) => waiting.filter(({ leaf }) => leaf < rootSize)

/** How many of these burns it takes until so many accounts paid enough. Undefined when one proof does not hold them. */
function companyAfter(burns: readonly AcceptedBurn[], { least, floor }: Batches): number | undefined {
  const payers = new Set<string>()
  for (const [i, { from, value }] of burns.slice(0, fittingLeaves(burns.map(({ leaf }) => leaf))).entries()) {
    if (value >= floor) payers.add(from)
    if (payers.size >= least) return i + 1
  }
  return undefined
}

/** A random while after there is company, and a random while before the longest wait ends. */
function dueFor(epoch: Epoch, batches: Batches, now: number): 'company' | 'waited' | undefined {
  const { jitterSeconds, waitMaxSeconds } = batches
  if (companyAfter(epoch.waiting, batches) === undefined) epoch.completeAt = undefined
  else epoch.completeAt ??= now
  const first = epoch.waiting[0]?.now ?? Number.POSITIVE_INFINITY
  const early = epoch.time * Math.min(jitterSeconds, waitMaxSeconds / 2)
  if (now >= first + waitMaxSeconds - early) return 'waited'
  const complete = (epoch.completeAt ?? Number.POSITIVE_INFINITY) + epoch.time * jitterSeconds
  return now >= complete ? 'company' : undefined
}

/** A proof goes on where the one before ended. */
function nextMint(epoch: Epoch, rootSize: number, company: Batches | undefined): SimulatedMint | undefined {
  const open = covered(epoch, rootSize)
  const least = company ? companyAfter(open, company) : open.length
  if (open.length === 0 || least === undefined) return undefined
  const leaves = open.map(({ leaf }) => leaf)
  const { count, end } = batchRange(leaves, rootSize, { least, chance: epoch.place })
  const counted = open.slice(0, count)
  const range = { start: epoch.checkpoint, end }
  epoch.checkpoint = end
  epoch.waiting = epoch.waiting.filter((burn) => !counted.includes(burn))
  const value = counted.reduce((sum, { value }) => sum + value, 0n)
  return { value, rootSize, range, burns: counted.map(({ leaf }) => leaf) }
}
