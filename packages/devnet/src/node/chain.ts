import { type Clock, createSerial } from '@svc-zerc20/protocol'
import { systemClock } from '@svc-zerc20/protocol/system-clock'
import { type Address, parseEther } from 'viem'
import { developmentAccounts } from './accounts.js'
import { createBlockBuilder } from './block-builder.js'
import { createChainTime } from './chain-time.js'
import { createEngine } from './engine.js'
import { createFaultInjection } from './faults/fault-injection.js'
import { createFaults, type Fault } from './faults/faults.js'
import { createMempool } from './mempool.js'
import { createMining, type MiningMode } from './mining.js'
import { createReorg } from './reorg.js'
import { type ChainControl, createChainControl } from './rpc/chain-control.js'
import { createChainMethods } from './rpc/chain-methods.js'
import { type JsonRpcServer, startJsonRpcServer } from './rpc/json-rpc-server.js'
import { loopbackHost } from './rpc/loopback.js'

export type ChainOptions = {
  /** Port on 127.0.0.1; 0, the default, takes a free one. */
  port?: number
  chainId?: number
  mining?: MiningMode
  /** Accounts with native money at genesis. */
  accounts?: readonly { address: Address }[]
  /** Native money of each account. */
  balanceWei?: bigint
  /** Unix seconds; the clock's time by default. */
  genesisTime?: number
  /** How many blocks back a reorg can reach. */
  reorgDepth?: number
  clock?: Pick<Clock, 'now'>
}

/** A running chain. Its methods act on the node directly and see no injected faults; callers over HTTP do. */
export type Chain = Omit<ChainControl, 'send' | 'read'> & {
  rpcUrl: string
  port: number
  chainId: number
  /** One JSON-RPC call without HTTP and without faults. Throws `RpcError`. */
  request(method: string, params?: readonly unknown[]): Promise<unknown>
  /** Replaces all earlier faults by these. */
  setFaults(faults: readonly Fault[], options?: { seed?: number }): void
  stats(): ChainStats
  close(): Promise<void>
}

const defaults = { chainId: 31_337, reorgDepth: 64, balanceWei: parseEther('10000') } as const

/**
 * Starts an embedded EVM chain behind a JSON-RPC server on loopback.
 *
 * Everything stays in memory, about 50 KB for each transaction, so a chain under load must be restarted every few days.
 */
export async function startChain(options: ChainOptions = {}): Promise<Chain> {
  const node = await createNode(options)
  try {
    return createHandle(node, await serve(node, options.port ?? 0))
  } catch (error) {
    await node.stop()
    throw error
  }
}

function createHandle(node: Node, server: JsonRpcServer): Chain {
  const { send: _send, read: _read, ...steps } = node.control
  return {
    ...steps,
    rpcUrl: `http://${loopbackHost}:${server.port}`,
    port: server.port,
    chainId: node.chainId,
    request: (method, params = []) => node.request(method, params),
    setFaults: node.faults.set,
    stats: node.stats.read,
    async close() {
      await server.close()
      await node.stop()
    },
  }
}

type Node = Awaited<ReturnType<typeof createNode>>

async function createNode(options: ChainOptions) {
  const { chainId = defaults.chainId, mining: mode = { mode: 'instant' }, clock = systemClock } = options
  const { accounts = developmentAccounts, balanceWei: wei = defaults.balanceWei } = options
  const genesisTime = options.genesisTime ?? Math.floor(clock.now() / 1000)
  const balances = accounts.map(({ address }) => ({ address, wei }))
  const engine = await createEngine({ chainId, time: genesisTime, balances })
  const mempool = createMempool()
  const time = createChainTime({ clock })
  const { reorgDepth = defaults.reorgDepth } = options
  const builder = await createBlockBuilder({ engine, mempool, time, reorgDepth })
  const serial = createSerial()
  const mining = createMining({ mode, builder, serial })
  const reorg = createReorg({ engine, builder, mempool, time })
  const control = createChainControl({ builder, reorg, mining, time, serial })
  const faults = createFaults()
  const stats = createStats()
  const request = createChainMethods({ engine, control, faults, stats: stats.read })

  async function stop(): Promise<void> {
    await mining.stop()
    // A call whose caller is gone may still be running.
    await serial(async () => undefined)
  }
  return { chainId, control, faults, stats, request, stop }
}

function serve({ faults, stats, request }: Node, port: number): Promise<JsonRpcServer> {
  const answer = createFaultInjection({ faults, request })
  return startJsonRpcServer({
    port,
    onHttpRequest: stats.countHttpRequest,
    async answer(call) {
      // Control calls are exempt from faults and from the statistics.
      if (call.method.startsWith('dev_')) {
        return { kind: 'result', value: await request(call.method, call.params) }
      }
      stats.countCall(call.method)
      return answer(call)
    },
  })
}

/** Counts of HTTP requests and their calls. `request` and the `dev_` methods are not counted. */
export type ChainStats = { httpRequests: number; calls: Record<string, number> }

function createStats() {
  let httpRequests = 0
  const calls = new Map<string, number>()
  return {
    countHttpRequest() {
      httpRequests += 1
    },
    countCall(method: string) {
      calls.set(method, (calls.get(method) ?? 0) + 1)
    },
    read: (): ChainStats => ({ httpRequests, calls: Object.fromEntries(calls) }),
  }
}
