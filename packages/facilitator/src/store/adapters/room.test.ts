/** Who may open one more challenge. The store counts seldom, and decides as if it counted each time. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { stoppedClock } from '../../../../../test/support/clocks.js'
import { challengeOf, permitPayloadOf, seconds } from '../../../test/challenges.js'
import { createMemoryStore, stores, type TestLedger } from '../../../test/store.js'
import { rankOf } from '../../payment/issue/shares.js'
import type { Challenge } from '../../payment/records.js'

const start = 1_700_000_000
const openMax = 8
const [seller, otherSeller, caller, stranger] = ['0a', '0b', '0c', '0d']
const shares = {
  capacity: openMax,
  reservedPercent: new Map([
    [seller, 25],
    [otherSeller, 25],
  ]),
  promised: new Map([[caller, 2]]),
  promisedToOthers: 1,
}

type Known = { readonly asker: string | undefined; readonly challenge: Challenge; isClaimed: boolean }

/** The rule, on exact numbers. */
function mayOpen(all: readonly Known[], asker: string | undefined, now: number): boolean {
  const open = all.filter(({ challenge, isClaimed }) => !isClaimed && challenge.expiresAt > now)
  const of = (key: string) => open.filter((each) => each.asker === key).length
  if (asker === undefined) return open.length < openMax
  const promisedTo = (key: string) => shares.promised.get(key) ?? shares.promisedToOthers
  const rank = rankOf({ ...shares, promisedTo }, { of, all: open.length }, asker, openMax - open.length)
  return rank !== undefined
}

type Act =
  | { readonly kind: 'issue'; readonly asker: string | undefined; readonly lifetime: number }
  | { readonly kind: 'claim' | 'release'; readonly which: number }
  | { readonly kind: 'wait'; readonly seconds: number }

const acts: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('issue' as const),
      asker: fc.constantFrom(seller, otherSeller, caller, stranger, undefined),
      lifetime: fc.integer({ min: 1, max: 3 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constantFrom('claim' as const, 'release' as const), which: fc.nat(20) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), seconds: fc.integer({ min: 1, max: 2 }) }),
  },
)

async function play(script: readonly Act[]): Promise<void> {
  const clock = stoppedClock(start * 1_000)
  const { store, ledger } = createMemoryStore(clock, { openMax, shares })
  const known: Known[] = []
  for (const [i, act] of script.entries()) {
    const now = clock.now() / 1_000
    if (act.kind === 'wait') clock.advance(act.seconds * 1_000)
    else if (act.kind === 'issue') {
      const { asker, lifetime } = act
      const challenge = challengeOf(i + 1, { expiresAt: seconds(now + lifetime) })
      const allowed = mayOpen(known, asker, now) ? 'issued' : 'limit'
      expect(await store.change('issue', challenge, asker)).toBe(allowed)
      if (allowed === 'issued') known.push({ asker, challenge, isClaimed: false })
    } else await changeClaim(ledger, act.kind, known[act.which])
  }
  await store.close()
}

async function changeClaim(
  ledger: TestLedger,
  kind: 'claim' | 'release',
  known: Known | undefined,
): Promise<void> {
  if (!known || known.isClaimed === (kind === 'claim')) return
  const { challenge } = known
  const payload = permitPayloadOf(challenge, { nonce: BigInt(challenge.nonce) })
  await (kind === 'claim' ? ledger.claim(challenge.nonce, payload) : ledger.release(challenge.nonce))
  known.isClaimed = kind === 'claim'
}

describe('room for one more challenge', () => {
  it('is for the caller to whom the numbers of this very moment give it', async () => {
    await fc.assert(fc.asyncProperty(fc.array(acts, { minLength: 20, maxLength: 60 }), play), {
      numRuns: Math.ceil(stores / 4),
    })
  })

  it('is not there twice when a payment that made it is released', async () => {
    const { store, ledger } = createMemoryStore(stoppedClock(start * 1_000), { openMax: 2 })
    const known = [1, 2, 3, 4].map(
      (seed): Known => ({ asker: undefined, challenge: challengeOf(seed), isClaimed: false }),
    )
    const issue = ({ challenge }: Known) => store.change('issue', challenge, undefined)
    const outcomes: unknown[] = []
    for (const each of known.slice(0, 2)) {
      outcomes.push(await issue(each))
      await changeClaim(ledger, 'claim', each)
    }
    for (const each of known.slice(2, 3)) outcomes.push(await issue(each))
    for (const each of known.slice(0, 2)) await changeClaim(ledger, 'release', each)
    for (const each of known.slice(3)) outcomes.push(await issue(each))
    expect(outcomes).toEqual(['issued', 'issued', 'issued', 'limit'])
    await store.close()
  })
})
