/** Asks a token indexer. What it says is a claim: whoever uses it checks it against the chain. */
import { type Address, parseTxHash, SvcError, type TxHash } from '@svc-zerc20/protocol'
import { treeHeight } from '@svc-zerc20/zk'
import * as z from 'zod'

const word = z
  .string()
  .regex(/^(0x)?[0-9a-f]{1,64}$/i)
  .transform((hex) => BigInt(hex.startsWith('0x') ? hex : `0x${hex}`))

/** What we read of the answers; other fields may come. */
const proofs = z.array(z.object({ siblings: z.array(word).length(treeHeight) })).length(1)
const events = z.array(z.object({ transaction_hash: z.string(), value: word }))

export type ClaimedTransfer = { readonly txHash: TxHash; readonly value: bigint }

export type Indexer = {
  /** Siblings of a leaf in the tree of `size` leaves, as the indexer claims. Throws when it has no answer. */
  siblings(leafIndex: bigint, size: bigint, signal: AbortSignal): Promise<readonly bigint[]>
  /** Transfers to an address, as the indexer claims; the earliest of them when there are very many. */
  transfersTo(address: Address, signal: AbortSignal): Promise<readonly ClaimedTransfer[]>
}

export function createIndexer(deps: {
  readonly url: string
  readonly chainId: number
  readonly token: Address
  readonly timeoutMs: number
  readonly answerBytesMax: number
}): Indexer {
  const base = deps.url.replace(/\/+$/, '')

  async function ask(path: string, init: RequestInit, signal: AbortSignal): Promise<unknown> {
    const { bounded, release } = boundedBy(signal, deps.timeoutMs)
    try {
      const response = await fetch(`${base}${path}`, { ...init, redirect: 'error', signal: bounded })
      const text = await readBounded(response, deps.answerBytesMax)
      if (!response.ok) throw new SvcError('indexer_failed', `the indexer answered ${response.status}`)
      return JSON.parse(text)
    } finally {
      release()
    }
  }

  async function usable<T>(what: string, read: () => Promise<T>): Promise<T> {
    try {
      return await read()
    } catch (cause) {
      if (cause instanceof SvcError) throw cause
      throw new SvcError('indexer_failed', `the indexer gave no usable ${what}`, { cause })
    }
  }

  return {
    siblings: (leafIndex, size, signal) =>
      usable('path', async () => {
        const body = JSON.stringify({
          chain_id: deps.chainId,
          token_address: deps.token,
          target_index: Number(size),
          leaf_indices: [Number(leafIndex)],
        })
        const headers = { 'content-type': 'application/json' }
        const [proof] = proofs.parse(await ask('/proofs', { method: 'POST', headers, body }, signal))
        return proof?.siblings ?? []
      }),

    transfersTo: (address, signal) =>
      usable('list of transfers', async () => {
        const query = new URLSearchParams({
          chain_id: `${deps.chainId}`,
          token_address: deps.token,
          to: address,
        })
        return events.parse(await ask(`/events?${query}`, {}, signal)).flatMap((event) => {
          const txHash = parseTxHash(event.transaction_hash)
          return txHash === undefined ? [] : [{ txHash, value: event.value }]
        })
      }),
  }
}

/** By hand: signals that live long keep what `AbortSignal.any` derives from them. */
function boundedBy(signal: AbortSignal, timeoutMs: number): { bounded: AbortSignal; release(): void } {
  const bound = new AbortController()
  const cutOff = () => bound.abort(signal.reason)
  const timer = setTimeout(() => bound.abort(new SvcError('indexer_failed', 'it took too long')), timeoutMs)
  if (signal.aborted) cutOff()
  else signal.addEventListener('abort', cutOff)
  return {
    bounded: bound.signal,
    release() {
      clearTimeout(timer)
      signal.removeEventListener('abort', cutOff)
    },
  }
}

async function readBounded(response: Response, bytesMax: number): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    if (bytes > bytesMax) throw new SvcError('indexer_failed', 'the indexer answered too much')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
