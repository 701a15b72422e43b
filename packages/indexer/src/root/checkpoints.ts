/** Leaf counts whose hash chain the verifier keeps: a root proof must lead to one of them. */
import { type Address, SvcError } from '@svc-zerc20/protocol'
import type { Chain, VerifierState } from '../chain/chain.js'
import type { Log } from '../events.js'
import { limits } from '../limits.js'
import type { Database } from '../store/database.js'
import { hashChainAt, reserveCall, reserveEarlierCall } from './root-step.js'
import type { Sender } from './sender.js'

export type Checkpoints = {
  /** Remembers the verifier's latest reservation, whoever made it. */
  observe(state: VerifierState): void
  /** The furthest known checkpoint among the synced leaves, beyond the proved ones. */
  furthest(provedIndex: number): number | undefined
  /**
   * Reserves a checkpoint when none is ahead of the proved leaves, or when the last one is a whole subtree
   * behind. A caller that asks while one is being reserved waits for that one.
   */
  reserveIfDue(state: VerifierState, signal: AbortSignal): Promise<boolean>
  /** The nearest checkpoint at or above an index. If all are too far, one is reserved on the way. */
  nearest(of: { newIndex: number; oldIndex: number; known: number }, signal: AbortSignal): Promise<number>
}

/** Creates the view of one verifier's checkpoints. */
export function createCheckpoints(deps: {
  chain: Chain
  database: Database
  sender: Pick<Sender, 'send'>
  verifier: Address
  log: Log
  transfersPerCallMax?: number
}): Checkpoints {
  const { chain, database, sender, verifier, log } = deps
  const { transfersPerCallMax = limits.transfersPerCallMax } = deps
  let seen: number[] = []
  let reserving: Promise<void> | undefined

  function assertOurs(index: number, chainThere: bigint): void {
    if (chainThere === hashChainAt(database, index)) return
    throw new SvcError('reserved_chain_mismatch', `the verifier reserved another hash chain at ${index}`)
  }

  /** The first reserved leaf count from `from` to `to`, asked for in pages. */
  async function firstReserved(from: number, to: number): Promise<number | undefined> {
    for (let start = from; start <= to; start += limits.checkpointsPerCall) {
      const count = Math.min(limits.checkpointsPerCall, to - start + 1)
      const indices = Array.from({ length: count }, (_, offset) => start + offset)
      const chains = await chain.reservedChains(indices)
      const at = chains.findIndex((value) => value !== 0n)
      if (at < 0) continue
      assertOurs(start + at, chains[at] ?? 0n)
      return start + at
    }
    return undefined
  }

  function observe({ reservedIndex, provedIndex }: VerifierState): void {
    // A reorg takes reservations back, so checkpoints ahead of the latest reservation are forgotten.
    seen = seen.filter((index) => index > provedIndex && index < reservedIndex)
    if (reservedIndex > provedIndex) seen.push(reservedIndex)
    if (seen.length > limits.checkpointsSeenMax) seen.shift()
  }

  async function reserve(signal: AbortSignal): Promise<void> {
    const { transactionHash } = await sender.send({ to: verifier, data: reserveCall() }, signal)
    const state = await chain.verifierNow()
    observe(state)
    log({ event: 'root.reserved', index: state.reservedIndex, transaction: transactionHash })
  }

  return {
    observe,
    furthest(provedIndex) {
      const { size } = database.head()
      return seen.findLast((index) => index <= size && index > provedIndex)
    },
    async reserveIfDue({ reservedIndex, provedIndex }, signal) {
      const { size } = database.head()
      if (reservedIndex > provedIndex && size - reservedIndex < limits.leavesPerReservation) return false
      reserving ??= reserve(signal).finally(() => {
        reserving = undefined
      })
      await reserving
      return true
    },
    async nearest({ newIndex, oldIndex, known }, signal) {
      const farthest = Math.min(known, oldIndex + transfersPerCallMax)
      const found = await firstReserved(newIndex, farthest)
      if (found !== undefined) return found
      if (known === farthest) throw new SvcError('checkpoint_gone', `no hash chain is reserved at ${known}`)
      let checkpoint = known
      while (checkpoint > farthest) {
        const index = Math.max(newIndex, checkpoint - transfersPerCallMax)
        const data = reserveEarlierCall(database, index, checkpoint)
        const { transactionHash } = await sender.send({ to: verifier, data }, signal)
        log({ event: 'root.reserved', index, transaction: transactionHash })
        checkpoint = index
      }
      return checkpoint
    },
  }
}
