import { describe, expect, it } from 'vitest'
import { stoppedClock } from '../../../../../test/support/clocks.js'
import { addressOf } from '../../../test/challenges.js'
import { openTestStore } from '../../../test/store.js'
import { limits } from '../../config/limits.js'
import { first, sql } from '../sql.js'

const { payerWaitFirstMs: firstMs, payerWaitMaxMs: maxMs, payerWaitForgetMs: forgetMs } = limits
const payer = addressOf(1)

async function open() {
  const clock = stoppedClock()
  const { store, ledger } = await openTestStore({}, clock)
  return {
    store,
    ledger,
    advance: clock.advance,
    waitOf: async (of = payer) => (await ledger.ofPayer(of)).waitMs,
    remembered: async () => (await store.ask(first(sql`SELECT count(*) AS count FROM payer_wait`)))?.count,
  }
}

describe('payers whose relayed burns failed', () => {
  it('wait twice as long each time, up to the bound, and nobody else does', async () => {
    const { ledger, advance, waitOf } = await open()
    expect(await waitOf()).toBe(0)
    for (let doubledMs = firstMs; doubledMs < 4 * maxMs; doubledMs *= 2) {
      const waitMs = Math.min(doubledMs, maxMs)
      await ledger.burnFailed(payer)
      expect([await waitOf(), await waitOf(addressOf(2))]).toEqual([waitMs, 0])
      advance(waitMs - 1)
      expect(await waitOf()).toBe(1)
      advance(1)
      expect(await waitOf()).toBe(0)
    }
  })

  it('begin again when they did not fail for long enough, and are forgotten then', async () => {
    const { ledger, advance, waitOf, remembered } = await open()
    await ledger.burnFailed(payer)
    advance(firstMs + forgetMs - 1)
    await ledger.burnFailed(payer)
    expect(await waitOf()).toBe(2 * firstMs)
    advance(2 * firstMs + forgetMs)
    await ledger.burnFailed(addressOf(2))
    expect(await remembered()).toBe(1)
    await ledger.burnFailed(payer)
    expect(await waitOf()).toBe(firstMs)
  })

  it('hold up no burn when the store is away: the failure is lost', async () => {
    const { store, ledger } = await open()
    await store.close()
    await expect(ledger.burnFailed(payer)).resolves.toBeUndefined()
  })
})
