import { createHash } from 'node:crypto'
import type { Address, Hex } from 'viem'
import { nextBaseFee } from './base-fee.js'
import type { ChainTime } from './chain-time.js'
import type { Engine } from './engine.js'
import { lastOfOverdrawn, type Mempool, type PooledTransaction } from './mempool.js'
import { RpcError } from './rpc/rpc-error.js'

/** A mined block, with everything needed to mine it again or to go back before it. */
export type Block = {
  number: number
  hash: Hex
  timestamp: number
  /** The block's PREVRANDAO. */
  randomness: Hex
  transactions: readonly PooledTransaction[]
  /** The engine's state right before this block; absent when reorgs are switched off. */
  snapshotBefore: Hex | undefined
}

/** The values that decide a block's hash besides its parent and its transactions. */
export type BlockSeed = { timestamp: number; randomness: Hex }

/** Each step that changes the embedded chain. Callers must make sure that steps do not overlap. */
export type BlockBuilder = {
  /** Gives a raw transaction to the node. Throws the node's refusal. */
  send(raw: Hex): Promise<Hex>
  /** Gives an earlier transaction to the node again. If it has become impossible it is dropped, as by a real node. */
  sendAgain(raw: Hex): Promise<void>
  /** Mines one block with all executable transactions; an empty one if there are none. */
  build(seed?: BlockSeed): Promise<Block>
  /** Whether a block mined now would hold a transaction. */
  hasExecutable(): Promise<boolean>
  /** Removes waiting transactions from the mempool, as if the node had evicted them. Default: all. */
  dropPending(hashes?: readonly Hex[]): Promise<Hex[]>
  /** The blocks a reorg can still undo, oldest first. */
  recent(): readonly Block[]
  /** Follows the engine after it was reverted to the given height, onto a branch of its own. */
  follow(height: number): Promise<void>
  height(): number
  genesisHash(): Hex
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
  const genesisHash = head.hash

  async function send(raw: Hex): Promise<Hex> {
    const hash = (await engine.request('eth_sendRawTransaction', [raw])) as Hex
    const sent = (await engine.request('eth_getTransactionByHash', [hash])) as SentTransaction
    const maxFeePerGas = BigInt(sent.maxFeePerGas ?? sent.gasPrice)
    const costWei = BigInt(sent.gas) * maxFeePerGas + BigInt(sent.value)
    mempool.add({ hash, raw, from: sent.from, nonce: Number(sent.nonce), maxFeePerGas, costWei })
    return hash
  }

  function nextSeed(): BlockSeed {
    // The branch is hashed too, so that an empty replacement block differs from the block that it replaces.
    const randomness = createHash('sha256').update(`${head.hash}:${branch}`).digest('hex')
    return { timestamp: time.next(head.timestamp), randomness: `0x${randomness}` }
  }

  /**
   * The engine refuses a whole block if one sender cannot pay for its transaction. A real node mines the others. So
   * transactions of overdrawn senders are left out, highest txNonce first, until a block is possible.
   */
  async function mine(seed: BlockSeed): Promise<PooledTransaction[]> {
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
        await dropPending([last.hash])
        aside.unshift(last)
      }
    }
  }

  async function balanceOf(address: Address): Promise<bigint> {
    return BigInt((await engine.request('eth_getBalance', [address, 'latest'])) as Hex)
  }

  async function build(seed: BlockSeed = nextSeed()): Promise<Block> {
    const snapshotBefore = reorgDepth > 0 ? ((await engine.request('evm_snapshot')) as Hex) : undefined
    const unpayable = await mine(seed)
    head = await readHead(engine)
    const transactions = head.transactions.flatMap((hash) => mempool.remove(hash) ?? [])
    const { number, hash } = head
    const block = { number, hash, ...seed, transactions, snapshotBefore }
    if (reorgDepth > 0) recent = [...recent, block].slice(-reorgDepth)
    for (const { raw } of unpayable) await sendAgain(raw)
    if (mempool.list().length > 0) await forgetEvicted()
    return block
  }

  async function hasExecutable(): Promise<boolean> {
    const nonces = new Map<Address, number>()
    for (const { from, nonce, maxFeePerGas } of mempool.list()) {
      if (maxFeePerGas < head.nextBaseFee) continue
      let next = nonces.get(from)
      if (next === undefined) {
        next = Number(await engine.request('eth_getTransactionCount', [from, 'latest']))
        nonces.set(from, next)
      }
      if (nonce === next) return true
    }
    return false
  }

  // The engine itself drops transactions that can never be mined.
  async function forgetEvicted(): Promise<void> {
    const waiting = (await engine.request('eth_pendingTransactions')) as { hash: Hex }[]
    const alive = new Set(waiting.map(({ hash }) => hash))
    mempool.replaceAll(mempool.list().filter(({ hash }) => alive.has(hash)))
  }

  async function dropPending(hashes?: readonly Hex[]): Promise<Hex[]> {
    const dropped: Hex[] = []
    for (const hash of hashes ?? mempool.list().map((waiting) => waiting.hash)) {
      if (mempool.remove(hash) === undefined) continue
      await engine.request('hardhat_dropTransaction', [hash])
      dropped.push(hash)
    }
    return dropped
  }

  async function sendAgain(raw: Hex): Promise<void> {
    try {
      await send(raw)
    } catch (error) {
      if (!(error instanceof RpcError)) throw error
    }
  }

  async function follow(height: number): Promise<void> {
    head = await readHead(engine)
    recent = recent.filter((block) => block.number <= height)
    branch += 1
  }

  return {
    send,
    build,
    hasExecutable,
    sendAgain,
    dropPending,
    recent: () => recent,
    follow,
    height: () => head.number,
    genesisHash: () => genesisHash,
  }
}

type SentTransaction = { from: Address; maxFeePerGas?: Hex } & Record<
  'nonce' | 'gas' | 'gasPrice' | 'value',
  Hex
>

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
