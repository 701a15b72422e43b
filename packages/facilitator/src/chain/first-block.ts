import { type JsonRpc, readBlockAt, readHead } from '@svc-zerc20/evm'
import { SvcError } from '@svc-zerc20/protocol'

/** The number of the first block at or after a time, from `first` on; one above the newest block when there is none. */
export async function firstBlockAt(
  rpc: Pick<JsonRpc, 'batch'>,
  time: number,
  first: number,
): Promise<number> {
  if (time <= 0) return first
  let [low, high] = [first, Number(await readHead(rpc)) + 1]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const block = await readBlockAt(rpc, BigInt(middle))
    if (!block) throw new SvcError('node_behind', `the node has no block ${middle}`)
    if (block.time < time) low = middle + 1
    else high = middle
  }
  return low
}
