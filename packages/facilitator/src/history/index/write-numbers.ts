/**
 * The numbers of the last writes. Writes are not synced, and a power failure may take one away that others followed: the
 * database then goes on as if nothing were missing, and the writer would record again what the index forgot. So every
 * write leaves its number, and an index without one of them is damaged.
 */
import { SvcError } from '@svc-zerc20/protocol'
import { keys } from './keys.js'
import { del, type Level, nothing, type Operation, put } from './level.js'
import type { indexLimits } from './limits.js'
import { emptyState, type IndexState, readIndexState, writeIndexState } from './stored.js'

type Limits = Pick<typeof indexLimits, 'writesKept'>

/** The state, and the number of the write that makes it. */
export const operations = (state: IndexState, { writesKept }: Limits): readonly Operation[] => [
  put(keys.state, writeIndexState(state)),
  put(keys.write(state.writes), nothing),
  ...(state.writes > writesKept ? [del(keys.write(state.writes - writesKept))] : []),
]

/** An index without a state, or of another format, begins empty. Throws `SvcError('history_corrupt')` for lost writes. */
export async function stateOf(level: Level, { writesKept }: Limits): Promise<IndexState> {
  const value = await level.get(keys.state)
  const state = value && readIndexState(value)
  if (!state) {
    await level.clear()
    return emptyState
  }
  const kept = Math.min(state.writes, writesKept)
  const range = { gt: keys.write(state.writes - kept), lte: keys.write(state.writes) }
  if ((await level.keys(range).all()).length < kept) {
    throw new SvcError('history_corrupt', 'the index of the payment history lost a write')
  }
  return state
}
