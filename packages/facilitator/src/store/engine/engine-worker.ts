/** The thread of the engine: every message that waits is one group, and a slow disk makes nobody else wait. */
import assert from 'node:assert/strict'
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { SvcError } from '@svc-zerc20/protocol'
import type { Reply } from '../group.js'
import { type Engine, type EngineOptions, openEngine } from './engine.js'
import type { FromEngine, SentError, ToEngine } from './engine-messages.js'

assert(parentPort, 'runs as a worker thread')
const port = parentPort
const send = (message: FromEngine) => port.postMessage(message)

function sentError(error: unknown): SentError {
  const { message, cause } = error as Error
  return {
    code: error instanceof SvcError ? error.code : (error as { code?: string }).code,
    message,
    isOurs: error instanceof SvcError,
    ...(cause !== undefined && { cause: sentError(cause) }),
  }
}

const sentReply = (reply: Reply) => ('error' in reply ? { error: sentError(reply.error) } : reply)

try {
  const engine: Engine = openEngine(workerData as EngineOptions, (err) =>
    send({ kind: 'failure', error: sentError(err), figures: engine.figures() }),
  )
  const { id, report, isCopy } = engine
  port.on('message', (first: ToEngine) => {
    const waiting = [first]
    for (let next = receiveMessageOnPort(port); next; next = receiveMessageOnPort(port))
      waiting.push(next.message)
    const requests = waiting.flatMap((message) => (message.kind === 'step' ? message.request : []))
    if (requests.length > 0) {
      send({ kind: 'replies', replies: engine.run(requests).map(sentReply), figures: engine.figures() })
    }
    if (!waiting.some(({ kind }) => kind === 'close')) return
    engine.close()
    port.close()
  })
  send({ kind: 'open', id, report, isCopy, figures: engine.figures() })
} catch (error) {
  send({ kind: 'refused', error: sentError(error) })
}
