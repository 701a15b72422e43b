/**
 * The half of a proof that needs the witness alone, in a thread of its own. The other half needs the quotient first, and
 * takes as long. So one proof keeps two cores busy, and whoever waits for it waits half as long.
 */
import { Worker } from 'node:worker_threads'
import type { Complex, Point } from '@svc-zerc20/kernel'
import { limits } from './limits.js'
import type { ProvingKey } from './proving-key.js'

export type WitnessThread = {
  /** Resolves when the thread has loaded its part of the key. */
  load(key: ProvingKey): Promise<WitnessSums>
}

/** Order of the scalars, which are taken away from the caller: the wires, one, the two blinding scalars. */
export type WitnessSums = (scalars: Uint32Array) => Promise<WitnessPoints>

export type WitnessPoints = {
  readonly left: Point<bigint>
  readonly right: Point<bigint>
  readonly right2: Point<Complex>
}

/** What the thread is given of a key. */
export type WitnessKey = Pick<ProvingKey, 'wires'> & {
  readonly g1: Pick<ProvingKey['g1'], 'alpha' | 'beta' | 'delta' | 'left' | 'right'>
  readonly g2: ProvingKey['g2']
}

/** Keys are numbered in the order in which they are loaded. Questions are answered in their order. */
export type WitnessQuestion =
  | { readonly key: WitnessKey }
  | { readonly keyNumber: number; readonly scalars: Uint32Array }

/** Starts the thread. An error in it ends the process, as any bug of ours does. */
export function startWitnessThread(): WitnessThread {
  const thread = new Worker(new URL('./witness-sums-thread.js', import.meta.url), {
    resourceLimits: { maxYoungGenerationSizeMb: limits.threadYoungHeapMb },
  })
  const waiting: ((points: WitnessPoints | undefined) => void)[] = []
  let keys = 0
  thread.on('message', (points: WitnessPoints | undefined) => waiting.shift()?.(points))

  function ask(question: WitnessQuestion, given: readonly Uint32Array[] = []) {
    const answer = new Promise<WitnessPoints | undefined>((resolve) => waiting.push(resolve))
    thread.postMessage(
      question,
      given.map(({ buffer }) => buffer as ArrayBuffer),
    )
    return answer
  }

  return {
    async load(key) {
      const keyNumber = keys
      keys += 1
      await ask({ key: partOf(key) })
      return async (scalars) => {
        const points = await ask({ keyNumber, scalars }, [scalars])
        if (points === undefined) throw new Error('unreachable')
        return points
      }
    },
  }
}

/** Copies, because sending a view would send the whole file. */
function partOf({ wires, g1, g2 }: ProvingKey): WitnessKey {
  const { alpha, beta, delta, left, right } = g1
  const copies = <Points extends Record<string, Uint8Array>>(points: Points): Points =>
    Object.fromEntries(Object.entries(points).map(([name, bytes]) => [name, bytes.slice()])) as Points
  return { wires, g1: copies({ alpha, beta, delta, left, right }), g2: copies(g2) }
}
