/** `svc-facilitator mine`: finds the addresses of puzzles and puts them into the table of a database, on any machine. */
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import type { Clock } from '@svc-zerc20/protocol'
import { solvedBy } from '../../addresses/address-maker.js'
import { createAddressMiner } from '../../addresses/miner.js'
import { parsePuzzle } from '../../addresses/puzzles.js'
import type { ReadyAddress } from '../../payment/ports.js'
import type { ReadyTable } from '../../store/postgres/ready.js'

/** How often a full table is looked at again, and how often the rate is told. */
const pollMs = 1_000
const tellMs = 10_000

export type MineDeps = {
  readonly input: Readable
  readonly table: Pick<ReadyTable, 'add' | 'count'>
  readonly threads: number
  /** Rests while this many addresses are ready. */
  readonly full: number
  readonly clock: Clock
  readonly stopped: AbortSignal
  readonly say: (line: string) => void
}

/** Ends with its input, or when it is stopped. Gives how many addresses were added, in words. */
export async function mineAddresses(deps: MineDeps): Promise<string> {
  const { input, table, threads, clock, stopped, say } = deps
  const miner = createAddressMiner({ threads })
  const began = clock.now()
  let added = 0
  const told = () => {
    const seconds = Math.max(1, clock.now() - began) / 1000
    return `${added} addresses in ${seconds.toFixed(1)} s: ${(added / seconds).toFixed(2)} a second`
  }
  const found: ReadyAddress[] = []
  let adding: Promise<void> | undefined
  /** Adds the addresses that were found, and those that are found meanwhile. */
  async function add(): Promise<void> {
    while (found.length > 0) {
      const some = found.splice(0, 100)
      await table.add(some)
      added += some.length
    }
    adding = undefined
  }

  let toldAt = began
  const lines = createInterface({ input })[Symbol.asyncIterator]()
  async function work(): Promise<void> {
    for (;;) {
      while (!stopped.aborted && (await table.count()) >= deps.full) await clock.sleep(pollMs, stopped)
      const line = stopped.aborted ? { done: true as const } : await lines.next()
      if (line.done) return
      const puzzle = parsePuzzle(line.value)
      found.push(solvedBy(puzzle, await miner.mine(puzzle)))
      adding ??= add()
      await adding
      if (clock.now() - toldAt < tellMs) continue
      toldAt = clock.now()
      say(told())
    }
  }
  try {
    await Promise.all(Array.from({ length: threads }, work))
  } finally {
    await miner.close()
    input.destroy()
  }
  return told()
}
