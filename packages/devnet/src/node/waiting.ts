/** Transactions that wait to be mined. The engine holds them; our mempool knows their order, cost and raw bytes. */
import type { Address, Hex } from 'viem'
import type { Engine } from './engine.js'
import type { Mempool } from './mempool.js'
import { RpcError } from './rpc/rpc-error.js'

/** Keeps engine and mempool in step. */
export type Waiting = {
  /** Gives a raw transaction to the node. Throws the node's refusal. */
  send(raw: Hex): Promise<Hex>
  /** Gives an earlier transaction to the node again. If it has become impossible it is dropped, as by a real node. */
  sendAgain(raw: Hex): Promise<void>
  /** Removes waiting transactions, as if the node had evicted them. Default: all. */
  drop(hashes?: readonly Hex[]): Promise<Hex[]>
  /** Forgets transactions that the engine itself dropped because they can never be mined. */
  forgetEvicted(): Promise<void>
  /** Whether a block with this base fee would hold a transaction. */
  hasExecutable(baseFee: bigint): Promise<boolean>
}

type SentTransaction = { from: Address; maxFeePerGas?: Hex } & Record<
  'nonce' | 'gas' | 'gasPrice' | 'value',
  Hex
>

export function createWaiting({ engine, mempool }: { engine: Engine; mempool: Mempool }): Waiting {
  async function send(raw: Hex): Promise<Hex> {
    const hash = (await engine.request('eth_sendRawTransaction', [raw])) as Hex
    const sent = (await engine.request('eth_getTransactionByHash', [hash])) as SentTransaction
    const maxFeePerGas = BigInt(sent.maxFeePerGas ?? sent.gasPrice)
    const costWei = BigInt(sent.gas) * maxFeePerGas + BigInt(sent.value)
    mempool.add({ hash, raw, from: sent.from, nonce: Number(sent.nonce), maxFeePerGas, costWei })
    return hash
  }

  return {
    send,
    async sendAgain(raw) {
      try {
        await send(raw)
      } catch (error) {
        if (!(error instanceof RpcError)) throw error
      }
    },
    async drop(hashes) {
      const dropped: Hex[] = []
      for (const hash of hashes ?? mempool.list().map((waiting) => waiting.hash)) {
        if (mempool.remove(hash) === undefined) continue
        await engine.request('hardhat_dropTransaction', [hash])
        dropped.push(hash)
      }
      return dropped
    },
    async forgetEvicted() {
      if (mempool.list().length === 0) return
      const waiting = (await engine.request('eth_pendingTransactions')) as { hash: Hex }[]
      const alive = new Set(waiting.map(({ hash }) => hash))
      mempool.replaceAll(mempool.list().filter(({ hash }) => alive.has(hash)))
    },
    async hasExecutable(baseFee) {
      const nonces = new Map<Address, number>()
      for (const { from, nonce, maxFeePerGas } of mempool.list()) {
        if (maxFeePerGas < baseFee) continue
        let next = nonces.get(from)
        if (next === undefined) {
          next = Number(await engine.request('eth_getTransactionCount', [from, 'latest']))
          nonces.set(from, next)
        }
        if (nonce === next) return true
      }
      return false
    },
  }
}
