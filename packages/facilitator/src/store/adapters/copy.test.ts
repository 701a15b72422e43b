import { expect, it } from 'vitest'
import { stoppedClock } from '../../../../../test/support/clocks.js'
import { burnOf, challengeOf, selfTransferOf } from '../../../test/challenges.js'
import { createMemoryStore } from '../../../test/store.js'
import { sql } from '../sql.js'

/** More than one transaction takes. */
const accepted = Array.from({ length: 520 }, (_, i) => challengeOf(i + 1))
const served = accepted.filter((_, i) => i % 40 === 0)
const unserved = accepted.filter((challenge) => !served.includes(challenge))
const claimed = challengeOf(1_000)

it('a copy that is accepted serves nobody again: each payment that was not served counts as served, once', async () => {
  const { ledger, store } = createMemoryStore(stoppedClock())
  const pay = async (challenge: typeof claimed, seed: number) => {
    await ledger.issue(challenge)
    await ledger.claim(challenge.nonce, selfTransferOf(challenge, seed))
    if (challenge !== claimed) await ledger.accept(challenge.nonce, burnOf(seed))
  }
  const all = [...accepted, claimed]
  // A step waits for those before it, and not for longer than a storage may stay silent.
  for (let i = 0; i < all.length; i += 40) {
    await Promise.all(all.slice(i, i + 40).map((challenge, j) => pay(challenge, i + j + 1)))
  }
  for (const { nonce } of served) {
    const grant = await ledger.takeGrant(nonce, 0)
    if (typeof grant === 'string') throw new Error(grant)
    await grant.use()
  }
  const used = () =>
    store.ask(
      (function* () {
        const events = yield sql`SELECT record FROM event WHERE kind = 'grant_used' ORDER BY seq`
        return events.map(({ record }): string => JSON.parse(record).challengeNonce)
      })(),
    )
  const noncesOf = (challenges: typeof accepted) => challenges.map(({ nonce }) => nonce)
  expect(await used()).toEqual(noncesOf(served))

  const state = () =>
    store.ask(
      (function* () {
        return (yield sql`SELECT state FROM ledger`)[0]?.state
      })(),
    )
  // Should it be killed between the two, the next start goes on with it.
  expect([await store.change('acceptCopy', 0), await state()]).toEqual(['begun', 'copy'])
  expect([await store.change('acceptCopy', 0), await state()]).toEqual(['accepted', 'live'])
  const usedSince = (await used()).slice(served.length)
  expect(usedSince.toSorted()).toEqual(noncesOf(unserved))
  for (const { nonce } of [...served, ...unserved.slice(-10)]) {
    expect(await ledger.takeGrant(nonce, 0)).toBe('used')
  }

  // A payment that is accepted behind the doubt is granted, and then counts as served.
  await ledger.accept(claimed.nonce, { ...burnOf(1_000), blockNumber: 1n })
  expect(await ledger.takeGrant(claimed.nonce, 0)).toMatchObject({ accepted: { burn: burnOf(1_000) } })
  await store.change('acceptCopy', 0)
  expect((await used()).slice(accepted.length)).toEqual([claimed.nonce])
})
