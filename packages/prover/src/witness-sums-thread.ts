/** A thread that sums points of keys by the witness; see `startWitnessThread`. */
import { parentPort } from 'node:worker_threads'
import { g1, g2 } from '@svc-zerc20/kernel'
import { createKeySums, joined } from './key-sums.js'
import type { WitnessKey, WitnessPoints, WitnessQuestion } from './witness-sums.js'

const inG1 = createKeySums(g1)
const inG2 = createKeySums(g2)
const keys: ((scalars: Uint32Array) => WitnessPoints)[] = []

function load({ wires, ...key }: WitnessKey): (scalars: Uint32Array) => WitnessPoints {
  const [one, first, second] = [wires, wires + 1, wires + 2]
  const left = joined(inG1.query(key.g1.left), inG1.query(key.g1.alpha, one), inG1.query(key.g1.delta, first))
  const right = joined(
    inG1.query(key.g1.right),
    inG1.query(key.g1.beta, one),
    inG1.query(key.g1.delta, second),
  )
  const right2 = joined(
    inG2.query(key.g2.right),
    inG2.query(key.g2.beta, one),
    inG2.query(key.g2.delta, second),
  )
  return (scalars) => ({
    left: inG1.sum(left, scalars),
    right: inG1.sum(right, scalars),
    right2: inG2.sum(right2, scalars),
  })
}

parentPort?.on('message', (question: WitnessQuestion) => {
  if ('key' in question) keys.push(load(question.key))
  parentPort?.postMessage('key' in question ? undefined : keys[question.keyNumber]?.(question.scalars))
})
