import { nextHashChain } from '@svc-zerc20/zk'
import { describe, expect, it } from 'vitest'
import { stoppedClock } from '../../../../../test/support/clocks.js'
import {
  addressOf,
  burnOf,
  challengeOf,
  hashOf,
  seconds,
  selfTransferOf,
  units,
} from '../../../test/challenges.js'
import { createMemoryStore } from '../../../test/store.js'
import type { LogEvent } from '../../telemetry/events.js'
import { createFollow } from './follow.js'
import type { PlacedTransfer, TokenChain } from './token-chain.js'

/** Block hashes are those of a fork from some block on. */
function forkingChain() {
  let head = 0
  const forks: { readonly from: number; readonly fork: number }[] = []
  let transfers: PlacedTransfer[] = []
  const hashAt = (number: number) =>
    hashOf(1_000_000 * (forks.findLast(({ from }) => from <= number)?.fork ?? 0) + number)
  const stateAt = (number: number) => {
    const made = transfers.filter(({ blockNumber }) => blockNumber <= BigInt(number))
    const hashChain = made.reduce((before, transfer) => nextHashChain(2, before, transfer), 0n)
    return { size: BigInt(made.length), hashChain }
  }
  const chain: TokenChain = {
    deepBlock: async () => ({ number: head, hash: hashAt(head), token: stateAt(head) }),
    block: async (number) =>
      number > head ? undefined : { hash: hashAt(number), time: seconds(1_700_000_000 + number) },
    tokenAt: () => Promise.reject(new Error('the node has dropped that state')),
    async *transfers(fromBlock, toBlock) {
      const isAsked = ({ blockNumber }: PlacedTransfer) =>
        blockNumber >= BigInt(fromBlock) && blockNumber <= BigInt(toBlock)
      yield { transfers: transfers.filter(isAsked), lastBlock: toBlock }
    },
  }
  return {
    chain,
    mineTo(number: number) {
      head = number
    },
    reorg(from: number) {
      forks.push({ from, fork: forks.length + 1 })
      transfers = transfers.filter(({ blockNumber }) => blockNumber < BigInt(from))
    },
    transfer(to: number, block: number) {
      const leafIndex = BigInt(transfers.length)
      const place = { txHash: hashOf(7_000 + block), blockNumber: BigInt(block), blockHash: hashAt(block) }
      transfers.push({ to: addressOf(to), from: addressOf(0xfa), value: units(1000n), leafIndex, ...place })
    },
  }
}

function follower() {
  const node = forkingChain()
  const { issued: store, ledger } = createMemoryStore(stoppedClock())
  const reported: LogEvent[] = []
  const follow = createFollow({
    store,
    chain: node.chain,
    deployedBlock: 1,
    depth: 1,
    clock: stoppedClock(),
    report: (event) => reported.push(event),
  })
  const round = () => follow.round(new AbortController().signal)
  return { node, store, ledger, issue: ledger.issue, follow, reported, round }
}

const txHashesTo = async ({ store }: ReturnType<typeof follower>, address: number) =>
  (await store.transfersTo(addressOf(address))).map(({ txHash }) => txHash)

describe('following transfers', () => {
  it('knows an address that was issued and paid while the node was asked for that block', async () => {
    const own = follower()
    const { chain } = own.node
    const { deepBlock } = chain
    chain.deepBlock = async (depth) => {
      await own.issue(challengeOf(1))
      own.node.transfer(1, 5)
      return deepBlock(depth)
    }
    await own.issue(challengeOf(2))
    own.node.mineTo(5)
    expect(await own.round()).toBe('followed')
    expect(await txHashesTo(own, 1)).toEqual([hashOf(7_005)])
  })

  it('keeps what lies beside the accepted burn, and not that burn', async () => {
    const own = follower()
    const { nonce } = challengeOf(1)
    await own.issue(challengeOf(1))
    own.node.mineTo(5)
    own.node.transfer(1, 4)
    own.node.transfer(1, 5)
    await own.ledger.claim(nonce, selfTransferOf(challengeOf(1), 7_004))
    await own.ledger.accept(nonce, { ...burnOf(7_004), leafIndex: 0n })
    await own.round()
    expect(await txHashesTo(own, 1)).toEqual([hashOf(7_005)])
  })

  it('lets others have their turn while it reads many', async () => {
    const own = follower()
    own.node.mineTo(1_000)
    for (let seed = 1; seed <= 150; seed++) {
      await own.issue(challengeOf(seed))
      own.node.transfer(seed, seed)
    }
    let turns = 0
    const count = () => {
      turns += 1
      next = setImmediate(count)
    }
    let next = setImmediate(count)
    await own.round()
    clearImmediate(next)
    // Once before each slice but the first, when they are checked and again when they are kept.
    expect(turns).toBeGreaterThanOrEqual(4)
    expect(await txHashesTo(own, 150)).toEqual([hashOf(7_150)])
  })

  it('reads a reorg of any depth again from before it began', async () => {
    const own = follower()
    for (const seed of [1, 2]) await own.issue(challengeOf(seed))
    for (let head = 10; head <= 1_000; head += 10) {
      own.node.mineTo(head)
      if (head === 300) own.node.transfer(1, 295)
      await own.round()
    }
    expect(await txHashesTo(own, 1)).toEqual([hashOf(7_295)])
    own.node.reorg(290)
    own.node.transfer(2, 310)
    own.node.mineTo(1_010)
    expect(await own.round()).toBe('unfinished')
    expect(await own.round()).toBe('followed')
    expect(await txHashesTo(own, 1)).toEqual([])
    expect(await txHashesTo(own, 2)).toEqual([hashOf(7_310)])
    const reorged = own.reported.filter(({ event }) => event === 'follow.reorged')
    expect(reorged).toMatchObject([
      { block: 1_000, from: expect.toSatisfy((from) => from < 290 && from > 0) },
    ])
  })

  it('is not done on a node that does not reach what was followed, nor on a shorter fork', async () => {
    const own = follower()
    await own.issue(challengeOf(1))
    for (const head of [50, 100]) {
      own.node.mineTo(head)
      await own.round()
    }
    own.node.mineTo(90)
    await expect(own.round()).rejects.toMatchObject({ code: 'node_behind' })
    own.node.mineTo(100)
    own.node.reorg(60)
    expect(await own.round()).toBe('unfinished')
    expect(own.reported).toEqual([{ event: 'follow.reorged', block: 100, from: 50 }])
  })

  it('keeps no transfer of a block that was replaced while it was read', async () => {
    const own = follower()
    const { chain } = own.node
    const { block } = chain
    await own.issue(challengeOf(1))
    own.node.mineTo(6)
    own.node.transfer(1, 5)
    chain.block = async (number) => {
      const found = await block(number)
      return found && number === 5 ? { ...found, hash: hashOf(9) } : found
    }
    await expect(own.round()).rejects.toMatchObject({ code: 'block_moved' })
    expect(await txHashesTo(own, 1)).toEqual([])
    chain.block = block
    expect(await own.round()).toBe('followed')
    expect(await txHashesTo(own, 1)).toEqual([hashOf(7_005)])
  })

  it('reads again from an earlier block when the logs, or the token, do not fit what was followed', async () => {
    const own = follower()
    const { chain } = own.node
    const { transfers, deepBlock } = chain
    await own.issue(challengeOf(1))
    for (const head of [50, 100]) {
      own.node.mineTo(head)
      await own.round()
    }
    own.node.mineTo(110)
    own.node.transfer(1, 105)
    // A node whose logs of these blocks are not there yet.
    chain.transfers = async function* (_, toBlock) {
      yield { transfers: [], lastBlock: toBlock }
    }
    await expect(own.round()).rejects.toMatchObject({ code: 'transfers_not_contiguous' })
    chain.transfers = transfers
    expect(await own.round()).toBe('followed')
    expect(await txHashesTo(own, 1)).toEqual([hashOf(7_105)])
    chain.deepBlock = async () => ({ ...(await deepBlock(1)), token: { size: 0n, hashChain: 0n } })
    expect(await own.round()).toBe('unfinished')
    const reorged = own.reported.filter(({ event }) => event === 'follow.reorged')
    expect(reorged).toMatchObject([{ block: 100, from: 50 }, { block: 110 }])
  })
})
