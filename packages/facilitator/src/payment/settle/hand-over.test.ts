import { expect, it, onTestFinished, vi } from 'vitest'
import { movableClock } from '../../../../../test/support/clocks.js'
import { until } from '../../../../../test/support/until.js'
import { addressOf, challengeOf, permitPayloadOf } from '../../../test/challenges.js'
import { createMemoryStore } from '../../../test/store.js'
import { startHandOver } from './hand-over.js'
import { createLedgerChanges } from './shared-burns.js'

const challenge = { ...challengeOf(1), expiresAt: 4_000_000_000 as never }

it('a claim of another daemon is taken up with the news of it; much news is one round, and keeps no memory', async () => {
  const clock = movableClock()
  const { ledger } = createMemoryStore(clock)
  const derive = vi.spyOn(AbortSignal, 'any')
  onTestFinished(() => derive.mockRestore())
  let hint: () => void = () => undefined
  const hints = (listener: () => void) => {
    hint = listener
    return () => undefined
  }
  // So long that only a hint begins a round.
  const changes = createLedgerChanges(hints, clock, { everyMs: 3_600_000, gatherMs: 10 })
  let rounds = 0
  const started: string[] = []
  const handOver = startHandOver({
    ledger: {
      ...ledger,
      unsigned() {
        rounds += 1
        return ledger.unsigned()
      },
    },
    account: addressOf(0xb1),
    burns: {
      start: async ({ challenge: { nonce } }) => void started.push(nonce),
      takeUp: () => Promise.reject(new Error('it was examined when it was claimed')),
      isUnderWay: () => false,
    },
    changes,
    clock,
    report: ({ event }) => expect.fail(event),
    retryMs: 60_000,
  })
  await until(() => rounds === 1)
  await ledger.issue(challenge)
  await ledger.claim(challenge.nonce, permitPayloadOf(challenge))
  for (let i = 0; i < 20; i++) hint()
  await until(() => started.length === 1)
  expect([started, rounds]).toEqual([[challenge.nonce], 2])
  hint()
  await until(() => rounds === 3)

  await handOver.stop()
  const seen = changes.seen()
  hint()
  await until(() => changes.seen() > seen)
  expect(rounds).toBe(3)
  // The signal of a loop would keep every one that is derived from it.
  expect(derive).not.toHaveBeenCalled()
})

it('a daemon that is alone takes up every claim that nobody burns, also one of another account from before a move', async () => {
  const clock = movableClock()
  const { ledger } = createMemoryStore(clock)
  const second = { ...challengeOf(2), expiresAt: challenge.expiresAt }
  const taken = new Set<string>()
  const handOver = startHandOver({
    ledger: { ...ledger, adopt: () => Promise.reject(new Error('there is nobody to adopt from')) },
    account: undefined,
    burns: {
      start: ({ challenge: { nonce } }) => void taken.add(nonce),
      takeUp: () => Promise.reject(new Error('it was examined when it was claimed')),
      isUnderWay: (nonce) => taken.has(nonce),
    },
    changes: createLedgerChanges(undefined, clock, { everyMs: 10, gatherMs: 0 }),
    clock,
    report: ({ event }) => expect.fail(event),
    retryMs: 60_000,
  })
  onTestFinished(handOver.stop)
  for (const each of [challenge, second]) await ledger.issue(each)
  await ledger.claim(challenge.nonce, permitPayloadOf(challenge))
  await ledger.claim(
    second.nonce,
    permitPayloadOf(second, { payer: addressOf(0xfb) }),
    false,
    undefined,
    addressOf(9),
  )
  await until(() => taken.size === 2)
})
