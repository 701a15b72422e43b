import type { Receipt } from '@svc-zerc20/evm'
import type { Address, TxHash } from '@svc-zerc20/protocol'
import { expect, it } from 'vitest'
import { stoppedClock } from '../../../../../test/support/clocks.js'
import { createMined } from './mined.js'
import { emptyCall, newVersion, openSlot, type Slot } from './slot.js'
import type { Head } from './view.js'

const limits = { minedKeptMax: 10, minedKeptBytesMax: 1000, reorgPollMs: 2_000, reorgedAfterMs: 4_000 }
const hashOf = (name: string) => `0x${name}` as TxHash

function slotOf(txNonce: number): Slot {
  const price = { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n }
  const versions = [newVersion({ hash: hashOf(`tx${txNonce}`), raw: '0x', price }, { isEmpty: false })]
  const call = { purpose: 'burn', ...emptyCall('0x' as Address, async () => undefined) } as const
  return openSlot({ txNonce, call, versions, end: () => undefined }, { signedAtMs: 0, sentAtMs: 0 })
}

/** A chain of named blocks, and the block that holds each transaction. */
function setup() {
  const blocks = new Map<bigint, string>()
  const places = new Map<TxHash, bigint>()
  const clock = stoppedClock()
  const mined = createMined({
    reader: {
      blockHashes: async (heights) => heights.map((height) => blocks.get(height)),
      receipts: async (hashes) =>
        hashes.map((hash) => {
          const blockNumber = places.get(hash)
          const blockHash = blockNumber === undefined ? undefined : blocks.get(blockNumber)
          return blockHash === undefined ? undefined : ({ blockNumber, blockHash } as Receipt)
        }),
    },
    clock,
    watchBlocks: 64,
    onMissing: () => undefined,
    limits,
  })
  /** The chain has this block now; it holds the transaction of this txNonce. */
  function mine(number: bigint, hash: string, txNonce: number): void {
    blocks.set(number, hash)
    places.set(hashOf(`tx${txNonce}`), number)
  }
  const keep = (txNonce: number, blockNumber: bigint) =>
    mined.keep(slotOf(txNonce), { blockNumber, blockHash: blocks.get(blockNumber) ?? '' })
  async function look(hash: string) {
    clock.advance(limits.reorgPollMs)
    const reorged = await mined.poll({ number: 9n, hash: `0x${hash}` as Head['hash'], baseFee: 1n })
    return reorged.map(({ how, slot }) => [how, slot.txNonce])
  }
  return { mine, keep, look }
}

it('a transaction that a reorg moved is followed, although a later one stands higher on the new branch', async () => {
  const { mine, keep, look } = setup()
  mine(5n, 'five', 1)
  keep(1, 5n)
  expect(await look('a')).toEqual([])
  // The new branch holds both, and the later one is kept before anybody looks.
  mine(5n, 'other five', 1)
  mine(6n, 'other six', 2)
  keep(2, 6n)
  expect(await look('b')).toEqual([['moved', 1]])
  expect(await look('c')).toEqual([])
})

it('two transactions that came between two looks are followed each on its branch', async () => {
  const { mine, keep, look } = setup()
  mine(5n, 'five', 1)
  keep(1, 5n)
  mine(5n, 'other five', 1)
  mine(6n, 'other six', 2)
  keep(2, 6n)
  expect(await look('b')).toEqual([['moved', 1]])
})
