/** Which leaves the next root proof appends. */
import { type RootCircuit, rootBatches } from '@svc-zerc20/zk'

export type RootPlan = { readonly circuit: RootCircuit; readonly oldIndex: number; readonly newIndex: number }

/** Time of one proof of each circuit, from the start of proving to the receipt. */
export type StepMs = Readonly<Record<RootCircuit, number>>

/**
 * The steps behind this one that are sure to come, whatever is transferred meanwhile: those that fill a whole subtree. At
 * most `count`.
 */
export function planAhead({ newIndex }: RootPlan, target: number, count: number): RootPlan[] {
  const width = rootBatches['root-64']
  const whole = newIndex % width === 0 ? Math.floor((target - newIndex) / width) : 0
  return Array.from({ length: Math.min(count, whole) }, (_, at) => {
    const oldIndex = newIndex + at * width
    return { circuit: 'root-64', oldIndex, newIndex: oldIndex + width }
  })
}

/**
 * The next step from the proved index towards the target. A proof stays inside one aligned subtree of its
 * batch. The rest of the present subtree of 64 takes one large proof or some small ones, whichever is done
 * sooner. A whole one takes a large proof: one that was begun ahead must not be made again in pieces, because a busy
 * machine took long for it.
 */
export function planRoot(oldIndex: number, target: number, stepMs: StepMs): RootPlan {
  const endOf = (width: number) => Math.min(target, (Math.floor(oldIndex / width) + 1) * width)
  const small = rootBatches['root-16']
  const large = rootBatches['root-64']
  const end = endOf(large)
  const smallSteps = Math.floor((end - 1) / small) - Math.floor(oldIndex / small) + 1
  return end - oldIndex < large && smallSteps * stepMs['root-16'] <= stepMs['root-64']
    ? { circuit: 'root-16', oldIndex, newIndex: endOf(small) }
    : { circuit: 'root-64', oldIndex, newIndex: end }
}
