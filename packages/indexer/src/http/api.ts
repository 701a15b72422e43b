/** The token indexer's HTTP surface in the shapes of generation 2. */
import { type Address, toChecksum } from '@svc-zerc20/protocol'
import type { FastifyInstance } from 'fastify'
import { limits } from '../limits.js'
import type { Database, StoredTransfer } from '../store/database.js'
import { parseAllEventsQuery, parseEventsQuery, parseProofsBody, parseTreeIndexQuery } from './requests.js'
import { RequestError } from './server.js'

/** Adds the routes. */
export function registerApi(
  app: FastifyInstance,
  deps: { database: Database; chainId: number; token: Address; status: () => Status },
): void {
  const { database, chainId, token, status } = deps

  function assertOurs(of: { chain_id: number; token_address: Address }): void {
    if (of.chain_id !== chainId || of.token_address !== token) {
      throw new RequestError(404, 'this token is not indexed here')
    }
  }

  app.get('/healthz', (_request, reply) => reply.send())

  app.get('/status', async () => [status()])

  app.get('/events', async (request) => {
    const query = parseEventsQuery(request.query)
    assertOurs(query)
    const found = database.transfersTo(query.to, query.limit)
    return found.map((transfer) => toEvent(token, transfer))
  })

  app.get('/all-events', async (request) => {
    const { recipients, limit } = parseAllEventsQuery(request.query)
    const events: object[] = []
    for (const to of new Set(recipients)) {
      const room = limits.eventsMax - events.length
      if (room === 0) break
      for (const transfer of database.transfersTo(to, Math.min(limit, room))) {
        events.push({ ...toEvent(token, transfer), chain_id: chainId })
      }
      await new Promise(setImmediate)
    }
    return events
  })

  app.post('/proofs', async (request) => {
    const body = parseProofsBody(request.body)
    assertOurs(body)
    return proofs(database, body.target_index, body.leaf_indices)
  })

  app.get('/tree-index', async (request) => {
    const query = parseTreeIndexQuery(request.query)
    assertOurs(query)
    const size = database.sizeOfRoot(query.transfer_root)
    if (size === undefined) throw new RequestError(404, 'the tree never had this root')
    return { tree_index: size }
  })
}

function proofs(database: Database, size: number, leafIndices: readonly number[]): object[] {
  if (leafIndices.length === 0) return []
  const latest = database.head().size
  if (latest === 0) throw new RequestError(404, 'the tree is empty')
  if (size === 0) throw new RequestError(400, 'target_index: no leaf is in a tree of size 0')
  if (size > latest) throw new RequestError(400, `target_index: the tree has ${latest} leaves`)
  const beyond = leafIndices.find((leaf) => leaf >= size)
  if (beyond !== undefined) throw new RequestError(400, `leaf_indices: ${beyond} is not below target_index`)
  const hashChain = database.transferAt(size - 1)?.hashChain
  if (hashChain === undefined) throw new RequestError(404, `no hash chain is known at ${size}`)
  return leafIndices.map((leafIndex) => {
    const { root, siblings } = database.pathAt(leafIndex, size)
    return {
      target_index: size,
      leaf_index: leafIndex,
      root: hex(root),
      hash_chain: hex(hashChain),
      siblings: siblings.map(hex),
    }
  })
}

const toEvent = (token: Address, transfer: StoredTransfer) => ({
  event_index: transfer.index,
  from: toChecksum(transfer.from),
  to: toChecksum(transfer.to),
  value: hex(transfer.value),
  eth_block_number: transfer.blockNumber,
  token_address: toChecksum(token),
  transaction_hash: transfer.transactionHash,
  log_index: transfer.logIndex,
})

/** Minimal length, as upstream writes 256-bit values. */
const hex = (value: bigint): string => `0x${value.toString(16)}`

/** The answer of `/status` about the token. The last three fields are ours; upstream's clients ignore them. */
export type Status = {
  readonly label: string
  readonly chain_id: number
  readonly token_address: string
  readonly verifier_address: string
  readonly onchain_reserved_index: number | null
  readonly onchain_proved_index: number | null
  /** Index of the last transfer. */
  readonly events_synced_index: number | null
  /** Number of leaves. */
  readonly tree_synced_index: number | null
  /** Leaf count of the last root that was proved here, submitted or not. */
  readonly ivc_generated_index: number | null
  readonly synced_block: number
  /** Code and sentence of the failure that stops the sync. */
  readonly sync_error: string | null
  /** Code and sentence of the failure that stops the proving of roots. */
  readonly root_error: string | null
}
