/** What every memory of payers whose relayed burns failed must do, wherever it is kept. */
import { describe, expect, it } from 'vitest'
import type { PayerWaits } from '../src/payment/settle/payer-waits.js'
import { addressOf } from './challenges.js'

export type PayerWaitsUnderTest = { readonly waits: PayerWaits; advance(ms: number): void }

/** The first wait, the longest one, and how long after its wait a payer is forgotten. */
export const waitSettings = { firstMs: 100, maxMs: 350, forgetMs: 1_000 }

const payer = addressOf(1)

export function describePayerWaits(name: string, open: () => PayerWaitsUnderTest): void {
  describe(`payers whose relayed burns failed, ${name}`, () => {
    it('wait twice as long each time, up to the bound, and nobody else does', async () => {
      const { waits, advance } = open()
      expect(await waits.waitMs(payer)).toBe(0)
      for (const waitMs of [100, 200, 350, 350]) {
        await waits.failed(payer)
        expect(await waits.waitMs(payer)).toBe(waitMs)
        advance(waitMs - 1)
        expect(await waits.waitMs(payer)).toBe(1)
        advance(1)
        expect(await waits.waitMs(payer)).toBe(0)
      }
      expect(await waits.waitMs(addressOf(2))).toBe(0)
    })

    it('begin again when they did not fail for long enough', async () => {
      const { waits, advance } = open()
      await waits.failed(payer)
      advance(100 + 999)
      await waits.failed(payer)
      expect(await waits.waitMs(payer)).toBe(200)
      advance(200 + 1_000)
      await waits.failed(payer)
      expect(await waits.waitMs(payer)).toBe(100)
    })

    it('count every failure, also those that come at the same time', async () => {
      const { waits } = open()
      await Promise.all([waits.failed(payer), waits.failed(payer)])
      expect(await waits.waitMs(payer)).toBe(200)
    })
  })
}
