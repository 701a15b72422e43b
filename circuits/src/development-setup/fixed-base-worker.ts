/** A thread that multiplies generators; see `createFixedBasePool`. */
import { parentPort } from 'node:worker_threads'
import type { Group } from './curve-module.js'
import { createFixedBase, type FixedBase } from './fixed-base.js'

export type FixedBaseRequest = { readonly id: number; readonly group: Group; readonly scalars: Uint8Array }
export type FixedBaseAnswer = { readonly id: number; readonly points: Uint8Array }

// Tables take a moment to build, so each is built on first use.
const engines = new Map<Group, FixedBase>()

parentPort?.on('message', ({ id, group, scalars }: FixedBaseRequest) => {
  const multiply = engines.get(group) ?? createFixedBase(group)
  engines.set(group, multiply)
  const points = multiply(scalars)
  parentPort?.postMessage({ id, points } satisfies FixedBaseAnswer, [points.buffer])
})
