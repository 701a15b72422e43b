import { Worker } from 'node:worker_threads'
import { elementBytes } from '../field.js'
import type { Group } from './curve-module.js'
import type { FixedBaseAnswer, FixedBaseRequest } from './fixed-base-worker.js'

/** Scalars in one task: enough to outweigh the cost of the message, few enough to share the work evenly. */
const scalarsPerTask = 4096

/** Multiplies generators in threads. */
export type FixedBasePool = {
  /** One point for each scalar, in order. `onDone` is called with a number of points whenever so many are there. */
  multiply(group: Group, scalars: Uint8Array, onDone?: (points: number) => void): Promise<Uint8Array[]>
  close(): Promise<void>
}

type Waiting = { resolve(points: Uint8Array): void; reject(error: Error): void }

export function createFixedBasePool({ threads }: { threads: number }): FixedBasePool {
  const waiting = new Map<number, Waiting>()
  const queue: FixedBaseRequest[] = []
  let lastId = 0
  let closed = false
  const idle = Array.from({ length: threads }, startWorker)
  const workers = [...idle]

  function startWorker(): Worker {
    const worker = new Worker(new URL('./fixed-base-worker.js', import.meta.url))
    worker.on('message', ({ id, points }: FixedBaseAnswer) => {
      waiting.get(id)?.resolve(points)
      waiting.delete(id)
      idle.push(worker)
      next()
    })
    worker.on('error', fail)
    worker.on('exit', () => {
      if (!closed) fail(new Error('a thread of the setup ended'))
    })
    return worker
  }

  function fail(error: Error): void {
    for (const { reject } of waiting.values()) reject(error)
    waiting.clear()
    queue.length = 0
  }

  function next(): void {
    while (queue.length > 0) {
      const worker = idle.pop()
      if (worker === undefined) return
      const request = queue.shift()
      if (request !== undefined) worker.postMessage(request)
    }
  }

  return {
    multiply(group, scalars, onDone = () => {}) {
      const tasks: Promise<Uint8Array>[] = []
      const taskBytes = scalarsPerTask * elementBytes
      for (let start = 0; start < scalars.length; start += taskBytes) {
        const id = ++lastId
        // A copy, because sending a view would send its whole buffer.
        const part = scalars.slice(start, start + taskBytes)
        queue.push({ id, group, scalars: part })
        const points = new Promise<Uint8Array>((resolve, reject) => waiting.set(id, { resolve, reject }))
        tasks.push(
          points.then((made) => {
            onDone(part.length / elementBytes)
            return made
          }),
        )
      }
      next()
      return Promise.all(tasks)
    },
    async close() {
      closed = true
      await Promise.all(workers.map((worker) => worker.terminate()))
    },
  }
}
