/** Composition root: folder, sync, HTTP and, when asked for, the job that proves roots. */
import { verifierAbi } from '@svc-zerc20/contracts'
import { createJsonRpc } from '@svc-zerc20/evm'
import { type Clock, parseAddress, SvcError, toChecksum } from '@svc-zerc20/protocol'
import { systemClock } from '@svc-zerc20/protocol/system-clock'
import { type Chain, createChain } from './chain/chain.js'
import type { Log } from './events.js'
import type { Status } from './http/api.js'
import { registerApi } from './http/api.js'
import { createServer } from './http/server.js'
import { limits } from './limits.js'
import { defaultCeilingGwei, gasPriceCeiling } from './root/gas-price-ceiling.js'
import { createRootJob, type RootJobOptions } from './root/root-job.js'
import { createSender } from './root/sender.js'
import { type Binding, openDatabase } from './store/database.js'
import { assertChain, createFollower } from './sync/follower.js'

export type IndexerOptions = {
  readonly rpcUrl: string
  readonly chainId: number
  readonly token: string
  readonly verifier: string
  /** Folder of the database. It is created if it does not exist. */
  readonly folder: string
  /** Loopback and a free port by default. */
  readonly listen?: { readonly host?: string; readonly port?: number }
  /** No transfer of the token is older than this block. */
  readonly fromBlock?: number
  /** Blocks that must lie upon a block before it is read; reorgs are followed in any case. */
  readonly confirmations?: number
  /** Pause between two looks at a chain that has nothing new. */
  readonly pollMs?: number
  /** The name of the token in `/status`. */
  readonly label?: string
  /** If given, roots are proved too. */
  readonly rootProver?: RootJobOptions
  readonly clock?: Clock
  readonly log?: Log
}

export type Indexer = {
  readonly url: string
  status(): Status
  /** Stops everything. The folder is consistent at any time. The caller closes the prover that it made. */
  close(): Promise<void>
}

const defaults = { host: '127.0.0.1', label: 'zerc20' } as const

/** Opens the folder, serves what it holds and follows the chain from there. */
export async function createIndexer(options: IndexerOptions): Promise<Indexer> {
  const { chainId, folder, fromBlock = 0, clock = systemClock, log = () => undefined } = options
  const token = parseAddress(options.token)
  const verifier = parseAddress(options.verifier)
  if (token === undefined) throw new SvcError('bad_option', `token: ${options.token} is no address`)
  if (verifier === undefined) throw new SvcError('bad_option', `verifier: ${options.verifier} is no address`)
  const ending = new AbortController()
  const rpc = createJsonRpc({ url: options.rpcUrl, ...limits.rpc })
  const chain = createChain({ rpc, token, verifier })
  const opening = openDatabase({ folder, ...folderOf({ chainId, token, fromBlock }, chain) })
  opening.catch(rpc.close)
  const database = await opening
  const loops: Promise<void>[] = []
  const job =
    options.rootProver &&
    createRootJob({
      ...(options.pollMs !== undefined && { pollMs: Math.min(options.pollMs, limits.rootPollMs) }),
      ...options.rootProver,
      sender: createSender({
        rpc,
        chainId,
        clock,
        privateKey: options.rootProver.privateKey,
        ceiling: options.rootProver.ceiling ?? gasPriceCeiling(defaultCeilingGwei),
        errors: verifierAbi,
        limits,
      }),
      verifier,
      chain,
      database,
      clock,
      log,
    })
  const follower = createFollower({ ...options, chain, database, clock, log, signal: ending.signal })

  const status = (): Status => {
    const { size, number } = database.head()
    const { verifierState, error } = follower.view()
    return {
      label: options.label ?? defaults.label,
      chain_id: chainId,
      token_address: toChecksum(token),
      verifier_address: toChecksum(verifier),
      onchain_reserved_index: verifierState?.reservedIndex ?? null,
      onchain_proved_index: verifierState?.provedIndex ?? null,
      events_synced_index: size === 0 ? null : size - 1,
      tree_synced_index: size,
      ivc_generated_index: job?.view().generatedIndex ?? null,
      synced_block: number,
      sync_error: error ?? null,
      root_error: job?.view().error ?? null,
    }
  }

  const app = createServer({ log })
  registerApi(app, { database, chainId, token, status })
  const close = async () => {
    ending.abort()
    rpc.close()
    await app.close()
    await Promise.all(loops)
    await database.close()
  }
  try {
    const { host = defaults.host, port = 0 } = options.listen ?? {}
    const url = await app.listen({ host, port })
    loops.push(follower.run())
    if (job) loops.push(job.run(ending.signal))
    log({
      event: 'indexer.ready',
      url,
      folder,
      chainId,
      token: toChecksum(token),
      size: database.head().size,
    })
    return { url, status, close }
  } catch (error) {
    await close()
    throw error
  }
}

/**
 * A new folder begins with the block before the token's first, so that a reorg of the first block can be
 * noticed.
 */
function folderOf(
  binding: Binding,
  chain: Chain,
): Pick<Parameters<typeof openDatabase>[0], 'binding' | 'start'> {
  return {
    binding,
    async start() {
      await assertChain(chain, binding.chainId)
      const number = Math.max(0, binding.fromBlock - 1)
      const [block] = await chain.blocksAt([number])
      if (block === undefined) throw new SvcError('chain_too_short', `the chain has no block ${number} yet`)
      return { ...block, size: 0, hashChain: 0n }
    },
  }
}
