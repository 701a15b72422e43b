/** Asks a token indexer for Merkle paths. What it says is a claim: `merkle-paths.ts` checks it. */
import { type Address, SvcError } from '@svc-zerc20/protocol'
import { treeHeight } from '@svc-zerc20/zk'
import * as z from 'zod'

const word = z
  .string()
  .regex(/^(0x)?[0-9a-f]{1,64}$/i)
  .transform((hex) => BigInt(hex.startsWith('0x') ? hex : `0x${hex}`))

/** What we read of the answer to `POST /proofs`; other fields may come. */
const proofs = z.array(z.object({ siblings: z.array(word).length(treeHeight) })).length(1)

export type Indexer = {
  /** Siblings of a leaf in the tree of `size` leaves, as the indexer claims. Throws when it has no answer. */
  siblings(leafIndex: bigint, size: bigint, signal: AbortSignal): Promise<readonly bigint[]>
}

export function createIndexer(deps: {
  readonly url: string
  readonly chainId: number
  readonly token: Address
  readonly timeoutMs: number
  readonly answerBytesMax: number
}): Indexer {
  const endpoint = `${deps.url.replace(/\/+$/, '')}/proofs`

  async function ask(body: string, signal: AbortSignal): Promise<unknown> {
    const response = await fetch(endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(deps.timeoutMs)]),
    })
    const text = await readBounded(response, deps.answerBytesMax)
    if (!response.ok) throw new SvcError('indexer_failed', `the indexer answered ${response.status}`)
    return JSON.parse(text)
  }

  return {
    async siblings(leafIndex, size, signal) {
      const body = JSON.stringify({
        chain_id: deps.chainId,
        token_address: deps.token,
        target_index: Number(size),
        leaf_indices: [Number(leafIndex)],
      })
      try {
        const [proof] = proofs.parse(await ask(body, signal))
        return proof?.siblings ?? []
      } catch (cause) {
        if (cause instanceof SvcError) throw cause
        throw new SvcError('indexer_failed', 'the indexer gave no usable path', { cause })
      }
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
