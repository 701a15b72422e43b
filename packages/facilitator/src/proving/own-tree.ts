/**
 * Our own copy of the token's tree, used when no indexer gives a path. The tree is built on the first
 * question, in its own thread: hashing it would hold up every request.
 */
import { type ErrorCode, SvcError } from '@svc-zerc20/protocol'
import type { ProvedRoot } from '../payment/finalize/ports.js'
import { createThread, startWorker } from '../thread.js'
import type { LogTreeOptions } from './log-tree.js'

export type OwnTree = {
  siblings(leafIndex: bigint, root: ProvedRoot, signal: AbortSignal): Promise<readonly bigint[]>
  close(): Promise<void>
}

export type TreeThreadData = {
  readonly rpc: { readonly url: string; readonly timeoutMs: number; readonly answerBytesMax: number }
  readonly tree: LogTreeOptions
}
export type TreeQuestion = { readonly leafIndex: bigint; readonly size: bigint; readonly root: bigint }
export type TreeAnswer =
  | { readonly siblings: readonly bigint[] }
  | { readonly code: ErrorCode; readonly message: string }

export function createOwnTree(data: TreeThreadData): OwnTree {
  const file = new URL('./own-tree-worker.js', import.meta.url)
  const thread = createThread<TreeQuestion, TreeAnswer>(() =>
    startWorker(file, 'svc-tree', { workerData: data }),
  )
  return {
    async siblings(leafIndex, { size, root }, signal) {
      signal.throwIfAborted()
      let cutOff: () => void = () => undefined
      const aborted = new Promise<never>((_, reject) => {
        cutOff = () => reject(signal.reason)
        signal.addEventListener('abort', cutOff)
      })
      const answered = thread.ask({ leafIndex, size, root }).catch((cause: unknown) => {
        throw new SvcError('tree_failed', 'the thread of the tree ended', { cause })
      })
      const answer = await Promise.race([answered, aborted]).finally(() =>
        signal.removeEventListener('abort', cutOff),
      )
      if ('code' in answer) throw new SvcError(answer.code, answer.message)
      return answer.siblings
    },
    close: thread.close,
  }
}
