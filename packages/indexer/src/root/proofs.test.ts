import type { RootWitness } from '@svc-zerc20/zk'
import { expect, test } from 'vitest'
import type { LogEvent } from '../events.js'
import { createProofs } from './proofs.js'
import type { RootPlan } from './root-plan.js'

const signal = new AbortController().signal
const stepOf = (oldIndex: number): RootPlan => ({ circuit: 'root-64', oldIndex, newIndex: oldIndex + 64 })
const witness = { input: {}, newRoot: 1n, newChain: 2n } as unknown as RootWitness

/** Proofs that end when the test says so. */
function proving() {
  const ends: { oldIndex: number; end: (proof: bigint[]) => void; fail: (error: Error) => void }[] = []
  const events: LogEvent[] = []
  const measured: number[] = []
  let now = 0
  const proofs = createProofs({
    prove: ({ plan }) =>
      new Promise((end, fail) => {
        ends.push({ oldIndex: plan.oldIndex, end, fail })
      }),
    database: { head: () => ({ size: 192 }) } as Parameters<typeof createProofs>[0]['database'],
    clock: { now: () => now },
    log: (event) => events.push(event),
    onProved: (_, ms) => measured.push(ms),
  })
  const pass = (ms: number) => {
    now += ms
  }
  return { proofs, ends, events, measured, pass }
}

test('a proof that is begun ahead is made once, and is there when it is asked for', async () => {
  const { proofs, ends, measured, pass } = proving()
  const first = proofs.of(stepOf(0), witness, signal)
  proofs.ahead(stepOf(64), witness, signal)
  proofs.ahead(stepOf(64), witness, signal)
  expect(ends.map(({ oldIndex }) => oldIndex)).toEqual([0, 64])
  pass(10)
  ends[0]?.end([7n])
  expect(await first).toEqual([7n])
  const second = proofs.of(stepOf(64), witness, signal)
  pass(20)
  ends[1]?.end([8n])
  expect([await second, await proofs.of(stepOf(64), witness, signal)]).toEqual([[8n], [8n]])
  expect(ends).toHaveLength(2)
  // The second waited for the prover, so its time tells nothing of the circuit.
  expect([measured, proofs.lastIndex()]).toEqual([[10], 128])
})

test('a proof that failed ahead is tried again when it is needed, and then its failure is told', async () => {
  const { proofs, ends } = proving()
  proofs.ahead(stepOf(0), witness, signal)
  ends[0]?.fail(new Error('killed'))
  await proofs.done()
  const again = proofs.of(stepOf(0), witness, signal)
  ends[1]?.fail(new Error('killed again'))
  await expect(again).rejects.toThrow('killed again')
})
