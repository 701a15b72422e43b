/** Counts of our epochs by accounts that are not ours. Told once for each epoch and run: only an operator can fix that. */
import type { Books } from '../books.js'
import type { AwaitingMint } from '../records.js'
import type { Report } from '../report.js'
import { type Epoch, type EpochPayments, epochKey } from './epoch.js'
import type { EpochLeaves } from './leaves.js'
import { sumBelow } from './plan.js'
import type { BatchPorts } from './ports.js'

type Foreign = { readonly value: bigint; readonly submitter?: string }

export type ForeignWatch = ReturnType<typeof createForeignWatch>

export function createForeignWatch(
  deps: Pick<BatchPorts, 'foreignCounts'> & {
    readonly ledger: { readonly books: Pick<Books, 'openEpochs'> }
    readonly report: Report
  },
  leavesOf: EpochLeaves,
) {
  const searched = new Set<string>()
  const told = new Set<string>()
  let isOpenSearched = false

  /**
   * The first count of an epoch by another account that comes to another sum than our burns. An earlier account of ours came
   * to the same. A count of nothing is nobody's loss, and after our first mint anybody can prove one.
   */
  async function find(epoch: Epoch, payments: readonly AwaitingMint[]): Promise<Foreign | undefined> {
    const counts = (await deps.foreignCounts(epoch)).filter(({ counted }) => counted > 0n)
    if (counts.length === 0) return undefined
    const leaves = await leavesOf(epoch, payments, 0n)
    const other = counts.find(({ end, counted }) => sumBelow(leaves, end) !== counted)
    return other && { value: other.counted, submitter: other.submitter }
  }

  function tell(epoch: Epoch, foreign: Foreign): void {
    if (told.has(epochKey(epoch))) return
    told.add(epochKey(epoch))
    deps.report({ event: 'batch.foreign', epoch: epoch.start, ...foreign })
  }

  return {
    tell,

    /** Searches once for an epoch, when a round first meets it. */
    async search({ epoch, payments }: EpochPayments): Promise<void> {
      if (searched.has(epochKey(epoch))) return
      const foreign = await find(epoch, payments)
      searched.add(epochKey(epoch))
      if (foreign) tell(epoch, foreign)
    },

    /** Searches at the start, for epochs of which addresses are given out and nothing is paid yet. */
    async searchOpen(): Promise<void> {
      if (isOpenSearched) return
      try {
        for (const epoch of await deps.ledger.books.openEpochs()) {
          const foreign = await find(epoch, [])
          if (foreign) tell(epoch, foreign)
        }
        isOpenSearched = true
      } catch {
        // This only warns, so that a node without logs holds nothing up. The next round tries again.
      }
    },
  }
}
