/**
 * Our own copy of the token's tree, used when no indexer gives a path. The tree is built on the first
 * question, in a thread of its own: hashing it would hold up every request.
 */
import { Worker } from 'node:worker_threads'
import { SvcError } from '@svc-zerc20/protocol'
import type { ProvedRoot } from '../payment/finalize/ports.js'
import type { LogTreeOptions } from './log-tree.js'

export type OwnTree = {
  siblings(leafIndex: bigint, root: ProvedRoot, signal: AbortSignal): Promise<readonly bigint[]>
  close(): Promise<void>
}

export type TreeThreadData = {
  readonly rpc: { readonly url: string; readonly timeoutMs: number; readonly answerBytesMax: number }
  readonly tree: LogTreeOptions
}
export type TreeQuestion = {
  readonly id: number
  readonly leafIndex: bigint
  readonly size: bigint
  readonly root: bigint
}
export type TreeAnswer =
  | { readonly id: number; readonly siblings: readonly bigint[] }
  | { readonly id: number; readonly code: string; readonly message: string }

type Waiting = { resolve(siblings: readonly bigint[]): void; reject(err: unknown): void }

export function createOwnTree(data: TreeThreadData): OwnTree {
  const waiting = new Map<number, Waiting>()
  let nextId = 1
  let thread: Worker | undefined

  function lost(err: unknown): void {
    thread = undefined
    for (const { reject } of waiting.values()) reject(err)
    waiting.clear()
  }

  function start(): Worker {
    const worker = new Worker(new URL('./own-tree-worker.js', import.meta.url), {
      name: 'svc-tree',
      workerData: data,
      // The daemon's environment holds keys.
      env: {},
      execArgv: [],
    })
    worker.on('message', (answer: TreeAnswer) => {
      const asked = waiting.get(answer.id)
      waiting.delete(answer.id)
      if ('siblings' in answer) asked?.resolve(answer.siblings)
      else asked?.reject(new SvcError(answer.code, answer.message))
    })
    worker.on('error', lost)
    worker.on('exit', () => lost(new SvcError('tree_failed', 'the thread of the tree ended')))
    return worker
  }

  return {
    siblings(leafIndex, { size, root }, signal) {
      return new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason)
        thread ??= start()
        const id = nextId++
        const abort = () => {
          waiting.delete(id)
          reject(signal.reason)
        }
        signal.addEventListener('abort', abort, { once: true })
        const settled = () => signal.removeEventListener('abort', abort)
        waiting.set(id, {
          resolve(siblings) {
            settled()
            resolve(siblings)
          },
          reject(err) {
            settled()
            reject(err)
          },
        })
        thread.postMessage({ id, leafIndex, size, root } satisfies TreeQuestion)
      })
    },
    async close() {
      await thread?.terminate()
    },
  }
}
