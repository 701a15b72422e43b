import { createHash } from 'node:crypto'
import type { Address, Hex } from 'viem'
import { nextBaseFee } from './base-fee.js'
import type { ChainTime } from './chain-time.js'
import type { Engine } from './engine.js'
import { lastOfOverdrawn, type Mempool, type PooledTransaction } from './mempool.js'
import { RpcError } from './rpc/rpc-error.js'
import { createWaiting, type Waiting } from './waiting.js'

/** A mined block, with everything needed to go back before it. */
export type Block = {
  number: number
  transactions: readonly PooledTransaction[]
  /** The engine's state right before this block; absent when reorgs are switched off. */
  snapshotBefore: Hex | undefined
}

/** Each step that changes the embedded chain. Callers must make sure that steps do not overlap. */
export type BlockBuilder = Pick<Waiting, 'send' | 'sendAgain'> & {
  /** Mines one block with all executable transactions; an empty one if there are none. */
  build(): Promise<Block>
  /** Whether a block mined now would hold a transaction. */
  hasExecutable(): Promise<boolean>
  /** Removes waiting transactions from the mempool, as if the node had evicted them. Default: all. */
  dropPending(hashes?: readonly Hex[]): Promise<Hex[]>
  /** The blocks a reorg can still undo, oldest first. */
  recent(): readonly Block[]
  /** Follows the engine after it was reverted to the given height, onto its own branch. */
  follow(height: number): Promise<void>
  height(): number
}

type Header = { number: number; hash: Hex; timestamp: number; nextBaseFee: bigint; transactions: Hex[] }

/** Creates the builder on an engine at its genesis block. */
export async function createBlockBuilder(dependencies: {
  engine: Engine
  mempool: Mempool
  time: ChainTime
  /** How many blocks back a reorg may reach; 0 takes no snapshots. */
  reorgDepth: number
}): Promise<BlockBuilder> {
  const { engine, mempool, time, reorgDepth } = dependencies
  let head = await readHead(engine)
  let branch = 0
  let recent: Block[] = []
  const waiting = createWaiting({ engine, mempool })

  /** The values that decide a block's hash besides its parent and its transactions. */
  function nextSeed() {
    // The branch is hashed too, so that an empty replacement block differs from the block that it replaces.
    const randomness = createHash('sha256').update(`${head.hash}:${branch}`).digest('hex')
    return { timestamp: time.next(head.timestamp), randomness: `0x${randomness}` }
  }

  /**
   * The engine refuses a whole block if one sender cannot pay for its transaction. A real node mines the others. So
   * transactions of overdrawn senders are left out, highest txNonce first, until a block is possible.
   */
  async function mine(): Promise<PooledTransaction[]> {
    const seed = nextSeed()
    const aside: PooledTransaction[] = []
    for (;;) {
      try {
        await engine.request('evm_setNextBlockTimestamp', [seed.timestamp])
        await engine.request('hardhat_setPrevRandao', [seed.randomness])
        await engine.request('evm_mine')
        return aside
      } catch (error) {
        const last = await lastOfOverdrawn(mempool.list(), balanceOf)
        if (!(error instanceof RpcError) || last === undefined) throw error
        await waiting.drop([last.hash])
        aside.unshift(last)
      }
    }
  }

  async function balanceOf(address: Address): Promise<bigint> {
    return BigInt((await engine.request('eth_getBalance', [address, 'latest'])) as Hex)
  }

  async function build(): Promise<Block> {
    const snapshotBefore = reorgDepth > 0 ? ((await engine.request('evm_snapshot')) as Hex) : undefined
    const unpayable = await mine()
    head = await readHead(engine)
    const transactions = head.transactions.flatMap((hash) => mempool.remove(hash) ?? [])
    const block = { number: head.number, transactions, snapshotBefore }
    if (reorgDepth > 0) recent = [...recent, block].slice(-reorgDepth)
    for (const { raw } of unpayable) await waiting.sendAgain(raw)
    await waiting.forgetEvicted()
    return block
  }

  async function follow(height: number): Promise<void> {
    head = await readHead(engine)
    recent = recent.filter((block) => block.number <= height)
    branch += 1
  }

  return {
    send: waiting.send,
    sendAgain: waiting.sendAgain,
    dropPending: waiting.drop,
    hasExecutable: () => waiting.hasExecutable(head.nextBaseFee),
    build,
    recent: () => recent,
    follow,
    height: () => head.number,
  }
}

type EngineBlock = Record<'number' | 'hash' | 'timestamp' | 'baseFeePerGas' | 'gasUsed' | 'gasLimit', Hex> & {
  transactions: Hex[]
}

async function readHead(engine: Engine): Promise<Header> {
  const block = (await engine.request('eth_getBlockByNumber', ['latest', false])) as EngineBlock
  return {
    number: Number(block.number),
    hash: block.hash,
    timestamp: Number(block.timestamp),
    nextBaseFee: nextBaseFee({
      baseFee: BigInt(block.baseFeePerGas),
      gasUsed: BigInt(block.gasUsed),
      gasLimit: BigInt(block.gasLimit),
    }),
    transactions: block.transactions,
  }
}
