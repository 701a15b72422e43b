/** The thread's side of `createOwnTree`: one question at a time, answered from logs it reads itself. */
import assert from 'node:assert/strict'
import { parentPort, workerData } from 'node:worker_threads'
import { createJsonRpc } from '@svc-zerc20/evm'
import { SvcError } from '@svc-zerc20/protocol'
import { createLogTree } from './log-tree.js'
import type { TreeAnswer, TreeQuestion, TreeThreadData } from './own-tree.js'

assert(parentPort, 'runs as a worker thread')
const port = parentPort
const { rpc, tree } = workerData as TreeThreadData
const logTree = createLogTree(createJsonRpc(rpc), tree)
let last: Promise<void> = Promise.resolve()

async function answer({ leafIndex, size, root }: TreeQuestion): Promise<void> {
  const reply: TreeAnswer = await logTree.siblings(leafIndex, { size, root }).then(
    (siblings) => ({ siblings }),
    (error: Error) => ({
      code: error instanceof SvcError ? error.code : 'tree_failed',
      message: error.message,
    }),
  )
  port.postMessage(reply)
}

// In order: two questions must not read the same logs at once.
port.on('message', (question: TreeQuestion) => {
  last = last.then(() => answer(question))
})
