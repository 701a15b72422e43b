/**
 * `finalize.mode = "batch"`: offers of one epoch share a recipient hash. Their burns are minted together when enough of
 * them wait, or when the first has waited long enough.
 */
import { batchRange } from '@svc-zerc20/zk'
import type { AcceptedBurn, Facilitator, SimulatedMint } from './facilitator.js'
import type { Random } from './random.js'

/** The keys of `[finalize]`, in seconds. */
export type Batches = {
  readonly epochSeconds: number
  readonly least: number
  readonly waitMaxSeconds: number
  readonly jitterSeconds: number
}

type Epoch = {
  waiting: AcceptedBurn[]
  /** Leaves below it are counted. */
  checkpoint: number
  /** In [0, 1), drawn once for each mint. */
  chance: number
  completeAt: number | undefined
}

export function createBatch(batches: Batches): (random: Random) => Facilitator {
  return (random) => {
    const epochs = new Map<number, Epoch>()
    const newEpoch = (): Epoch => ({
      waiting: [],
      checkpoint: 0,
      chance: random.fraction(),
      completeAt: undefined,
    })
    return {
      accept(burn) {
        const number = Math.floor(burn.offeredAt / batches.epochSeconds)
        const epoch = epochs.get(number) ?? newEpoch()
        epoch.waiting.push(burn)
        epochs.set(number, epoch)
      },
      mint: (now, rootSize) =>
        [...epochs.values()].flatMap((epoch) => {
          if (epoch.waiting.length === 0 || !isDue(epoch, batches, now)) return []
          const mints = tally(epoch, rootSize, batches.least)
          if (mints.length > 0) Object.assign(epoch, { chance: random.fraction(), completeAt: undefined })
          return mints
        }),
    }
  }
}

/** As the daemon decides: a random while after enough wait, and a random while before the longest wait ends. */
function isDue(epoch: Epoch, { least, waitMaxSeconds, jitterSeconds }: Batches, now: number): boolean {
  if (epoch.waiting.length >= least) epoch.completeAt ??= now
  const first = epoch.waiting[0]?.now ?? now
  const early = epoch.chance * Math.min(jitterSeconds, waitMaxSeconds / 2)
  const complete = (epoch.completeAt ?? Number.POSITIVE_INFINITY) + epoch.chance * jitterSeconds
  return now >= Math.min(first + waitMaxSeconds - early, complete)
}

/** Burns below the root, proof after proof, until too few are left. Each proof goes on where the one before ended. */
function tally(epoch: Epoch, rootSize: number, least: number): SimulatedMint[] {
  const mints: SimulatedMint[] = []
  let open = epoch.waiting.filter(({ leaf }) => leaf < rootSize)
  while (open.length > 0 && (mints.length === 0 || open.length >= least)) {
    const { count, end } = batchRange(
      open.map(({ leaf }) => leaf),
      rootSize,
    )
    const counted = open.slice(0, count)
    mints.push({
      value: counted.reduce((sum, { value }) => sum + value, 0n),
      rootSize,
      range: { start: epoch.checkpoint, end },
      burns: counted.map(({ leaf }) => leaf),
    })
    epoch.checkpoint = end
    open = open.slice(count)
  }
  epoch.waiting = [...open, ...epoch.waiting.filter(({ leaf }) => leaf >= rootSize)]
  return mints
}
