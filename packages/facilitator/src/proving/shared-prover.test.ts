import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { movableClock } from '../../../../test/support/clocks.js'
import { until } from '../../../../test/support/until.js'
import { burnOf, challengeOf } from '../../test/challenges.js'
import type { ProofOffer } from '../payment/finalize/proof-jobs.js'
import type { LogEvent } from '../telemetry/events.js'
import type { MintProver } from './proofs.js'
import { createSharedProver } from './shared-prover.js'

const job = {
  root: { size: 1n, root: 1n, isPaused: false },
  payment: { challenge: challengeOf(1), burn: burnOf(1) },
}
const wanted = { job, signals: [1n, 2n, 3n] }
const { signal } = new AbortController()
const good = { words: [8n] }

/** One process, whose proofs end when the test says so. `found` is what the offers say, one poll after the other. */
function setup(found: readonly Awaited<ReturnType<ProofOffer['poll']>>[], isAlone = false) {
  const events: LogEvent['event'][] = []
  const underWay: (() => void)[] = []
  const answers = [...found]
  let ended = 0
  const own: MintProver['prove'] = () =>
    new Promise((resolve) => underWay.push(() => resolve({ proof: [7n], signals: wanted.signals })))
  const offer: ProofOffer = {
    poll: async () => answers.shift() ?? found.at(-1) ?? 'free',
    async end() {
      ended += 1
    },
  }
  const clock = movableClock()
  const { prove } = createSharedProver({
    own: { prove: own },
    jobs: { offer: async () => (isAlone ? undefined : offer) },
    isValid: async (_, { proof, signals }) => proof[0] === 8n && signals === wanted.signals,
    processes: 1,
    isApart: (circuit) => circuit === 'batch-withdraw',
    clock,
    report: ({ event }) => events.push(event),
  })
  const ask = (given = signal) => prove('withdraw-local', {}, { signal: given, wanted })
  return { prove, ask, events, underWay, clock, ended: () => ended }
}

describe('a prover that shares its proofs', () => {
  it('proves by itself while it has a free process', async () => {
    const { ask, underWay, events } = setup([good])
    for (let i = 0; i < 3; i++) {
      const proof = ask()
      underWay.pop()?.()
      expect(await proof).toMatchObject({ proof: [7n] })
    }
    expect(events).toEqual([])
  })

  it('takes a valid proof of another daemon while its process is busy', async () => {
    const { ask, events, ended } = setup(['free', 'taken', good])
    void ask()
    expect(await ask()).toEqual({ proof: [8n], signals: wanted.signals })
    expect([events, ended()]).toEqual([['proof.borrowed'], 1])
  })

  it.each([
    ['a proof that is not valid', { words: [9n] }],
    ['nothing, because the other daemon gave up', 'gone' as const],
  ])('proves by itself when it got %s', async (_, found) => {
    const { ask, events, underWay, ended } = setup(['taken', found])
    void ask()
    const proof = ask()
    await until(() => underWay.length === 2)
    underWay[1]?.()
    expect(await proof).toMatchObject({ proof: [7n] })
    expect([events, ended()]).toEqual([['proof.not_borrowed'], 1])
  })

  it('takes one job back when its process is free again, and leaves the others to be taken', async () => {
    const { ask, underWay, ended } = setup(['free'])
    const [first] = [ask(), ask(), ask()]
    underWay[0]?.()
    await first
    await until(() => underWay.length === 2)
    await until(() => ended() === 1)
    expect(underWay).toHaveLength(2)
  })

  it('waits for its own process where there is no other daemon, and for none where a proof needs none', async () => {
    const { ask, prove, underWay } = setup([], true)
    void ask()
    void ask()
    await until(() => underWay.length === 2)
    void prove('batch-withdraw', {}, { signal, wanted })
    expect(underWay).toHaveLength(3)
  })

  it('ends its offer when nobody wants the proof any more', async () => {
    const { ask, events, clock, ended } = setup(['taken'])
    clock.hold()
    const stopping = new AbortController()
    // A signal that is derived from the daemon's own stays as long as that one.
    const derive = vi.spyOn(AbortSignal, 'any')
    onTestFinished(() => derive.mockRestore())
    void ask()
    const proof = ask(stopping.signal)
    await until(() => clock.asleep() === 1)
    stopping.abort(new Error('the daemon stops'))
    await expect(proof).rejects.toThrow('the daemon stops')
    expect([events, ended()]).toEqual([[], 1])
    expect(derive).not.toHaveBeenCalled()
  })
})
