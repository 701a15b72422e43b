/** Asks a token indexer. Its answers are claims: every user checks them against the chain. */
import { readBounded } from '@svc-zerc20/daemon'
import { type Address, SvcError } from '@svc-zerc20/protocol'
import { fieldPrime, treeHeight } from '@svc-zerc20/zk'
import * as z from 'zod'
import { urlAndHeaders } from '../config/credentials.js'

const word = z
  .string()
  .regex(/^(0x)?[0-9a-f]{1,64}$/i)
  .transform((hex) => BigInt(hex.startsWith('0x') ? hex : `0x${hex}`))

/** A hash is below the prime; a larger number would hash the same and prove nothing. */
const node = word.refine((number) => number < fieldPrime)

/** The fields that are read from the answers. Answers may have other fields. */
const proofs = z.array(z.object({ siblings: z.array(node).length(treeHeight) }))

const status = z
  .array(
    z.object({
      tree_synced_index: z.int().nullish(),
      onchain_proved_index: z.int().nullish(),
      synced_block: z.int().nullish(),
      sync_error: z.string().nullish(),
      root_error: z.string().nullish(),
    }),
  )
  .min(1)

/** How far an indexer is, as it says itself. */
export type IndexerStatus = {
  /** Transfers in its tree, and those under a root that the verifier has. */
  readonly leaves?: number | undefined
  readonly proved?: number | undefined
  readonly block?: number | undefined
  /** The problem that keeps it from going on. */
  readonly problem?: string | undefined
}

export type Indexer = {
  /** Throws when it has no answer. */
  status(): Promise<IndexerStatus>
  /** Siblings of a leaf in the tree of `size` leaves, as the indexer claims. Throws when it has no answer. */
  siblings(leafIndex: bigint, size: bigint, signal: AbortSignal): Promise<readonly bigint[]>
}

const tooMuch = () => new SvcError('indexer_failed', 'the indexer answered too much')

export function createIndexer(deps: {
  readonly url: string
  readonly chainId: number
  readonly token: Address
  readonly timeoutMs: number
  /** How long it has for its status, for which a person waits. */
  readonly statusMs: number
  readonly answerBytesMax: number
}): Indexer {
  const { url, headers } = urlAndHeaders(deps.url)
  const base = url.href.replace(/\/+$/, '')

  async function ask(path: string, body: object | undefined, signal: AbortSignal): Promise<unknown> {
    const { bounded, release } = boundedBy(signal, deps.timeoutMs)
    try {
      const response = await fetch(`${base}${path}`, {
        headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { method: 'POST', body: JSON.stringify(body) }),
        redirect: 'error',
        signal: bounded,
      })
      const text = await readBounded(response, deps.answerBytesMax, tooMuch)
      if (!response.ok) throw new SvcError('indexer_failed', `the indexer answered ${response.status}`)
      return JSON.parse(text)
    } finally {
      release()
    }
  }

  return {
    async status() {
      const [told] = status.parse(await ask('/status', undefined, AbortSignal.timeout(deps.statusMs)))
      return {
        leaves: told?.tree_synced_index ?? undefined,
        proved: told?.onchain_proved_index ?? undefined,
        block: told?.synced_block ?? undefined,
        problem: told?.sync_error ?? told?.root_error ?? undefined,
      }
    },
    async siblings(leafIndex, size, signal) {
      const leaves = alignedRange(Number(leafIndex), Number(size))
      const body = {
        chain_id: deps.chainId,
        token_address: deps.token,
        target_index: Number(size),
        leaf_indices: leaves,
      }
      try {
        const answer = proofs.parse(await ask('/proofs', body, signal))
        return answer[leaves.indexOf(Number(leafIndex))]?.siblings ?? []
      } catch (cause) {
        if (cause instanceof SvcError) throw cause
        throw new SvcError('indexer_failed', 'the indexer gave no usable path', { cause })
      }
    },
  }
}

/** Leaves that are asked for together; an indexer answers for at most 100. */
const rangeLeaves = 64

/**
 * The whole aligned stretch around a leaf. With a single leaf, the operator of the indexer would know whose
 * burn is minted next. The stretch is the same every time, because random company would give the leaf away
 * over several questions.
 */
function alignedRange(leafIndex: number, size: number): readonly number[] {
  const first = leafIndex - (leafIndex % rangeLeaves)
  return Array.from({ length: Math.min(rangeLeaves, size - first) }, (_, i) => first + i)
}

/**
 * Combines signal and timeout by hand: a long-lived signal keeps everything that `AbortSignal.any` derives
 * from it.
 */
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
