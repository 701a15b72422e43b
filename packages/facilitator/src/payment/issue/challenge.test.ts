import { keccak256 } from '@svc-zerc20/kernel'
import { amountLimit, type BaseUnits, type TokenLabel } from '@svc-zerc20/protocol'
import { describe, expect, it } from 'vitest'
import { stoppedClock } from '../../../../../test/support/clocks.js'
import { addressOf, challengeOf, deployment, nonceOf, units } from '../../../test/challenges.js'
import { createMemoryLedger } from '../../../test/ledger.js'
import { createIssueChallenge } from './challenge.js'
import type { FeeTerms } from './fee.js'

type Settings = {
  openMax: number
  ready: number
  relayMinAmount: bigint
  minAmount: bigint
  hangsUp: boolean
  fee: FeeTerms
  tokenLabel: TokenLabel
}

/** Issues from a source of addresses that counts what it gave away. */
function setup({
  openMax = 10,
  ready = 10,
  relayMinAmount = 0n,
  minAmount = 0n,
  hangsUp = false,
  fee,
  tokenLabel,
}: Partial<Settings> = {}) {
  const clock = stoppedClock(1_700_000_000_999)
  const ledger = createMemoryLedger({ clock, openMax, expiredRetentionSeconds: 0 })
  let taken = 0
  const givenBack: string[] = []
  const hangUp = new AbortController()
  const issue = createIssueChallenge({
    deployment: { ...deployment, ...(tokenLabel && { tokenLabel }) },
    addresses: {
      async take() {
        if (taken === ready) return undefined
        taken += 1
        if (hangsUp) hangUp.abort()
        return { challengeNonce: nonceOf(taken), payTo: addressOf(taken), powNonce: taken, powBits: 0 }
      },
      giveBack: ({ challengeNonce }) => void givenBack.push(challengeNonce),
    },
    ledger,
    tickets: { of: (nonce) => `ticket of ${nonce}`, matches: () => false },
    chain: { headNumber: () => 100n },
    clock,
    report: () => undefined,
    ttlSeconds: 300,
    permitOutlivesOfferSeconds: 120,
    addressWaitMs: 0,
    terms: { minAmount, fee },
    relayMinAmount,
    keccak: keccak256,
  })
  const asker = { gone: hangUp.signal }
  return {
    issue: (listPrice: BaseUnits) => issue(listPrice, asker),
    ledger,
    taken: () => taken,
    givenBack,
  }
}

describe('issueChallenge', () => {
  it('R-110 at the cap it refuses without spending an address', async () => {
    const { issue, givenBack } = setup({ openMax: 1 })
    expect((await issue(units(1n))).ok).toBe(true)
    expect(await issue(units(1n))).toMatchObject({ ok: false, reason: 'challenge_limit' })
    expect(givenBack).toEqual([nonceOf(2)])
  })

  it('an address that another daemon has issued meanwhile is passed over', async () => {
    const { issue, ledger, taken } = setup({ ready: 4 })
    for (const seed of [1, 2]) await ledger.issue(challengeOf(seed))
    expect(await issue(units(1n))).toMatchObject({ ok: true, value: { challengeNonce: nonceOf(3) } })
    expect(taken()).toBe(3)
  })

  it('R-110 without an address it refuses and opens nothing', async () => {
    const { issue, ledger } = setup({ ready: 0 })
    expect(await issue(units(1n))).toMatchObject({ ok: false, reason: 'address_pool_empty' })
    expect((await ledger.books.figures()).open).toBe(0)
  })

  it('during a pause it says so in the words of the operator, and spends no address, though none may be ready', async () => {
    for (const ready of [1, 0]) {
      const { issue, ledger, taken, givenBack } = setup({ ready })
      await ledger.setPause({ words: 'back at noon' })
      expect(await issue(units(1n))).toMatchObject({
        reason: 'issuance_paused',
        message: 'paused by the operator: back at noon',
      })
      expect(givenBack).toHaveLength(taken())
      await ledger.setPause({})
      expect(await issue(units(1n))).toMatchObject({ reason: 'issuance_paused' })
    }
  })

  it('gives the address back when the caller hung up meanwhile, and opens nothing', async () => {
    const { issue, ledger, givenBack } = setup({ hangsUp: true })
    expect((await issue(units(1n))).ok).toBe(false)
    expect([(await ledger.books.figures()).open, givenBack]).toEqual([0, [nonceOf(1)]])
  })

  it('gives the address back when the cap was reached meanwhile', async () => {
    const { issue, ledger, givenBack } = setup({ openMax: 2 })
    const answers = await Promise.all([1, 2, 3].map(() => issue(units(1n))))
    expect(answers.filter(({ ok }) => ok)).toHaveLength(2)
    expect([(await ledger.books.figures()).open, givenBack]).toEqual([2, [nonceOf(3)]])
  })

  it('refuses amounts outside the bound and spends nothing on them', async () => {
    const { issue, taken } = setup({})
    for (const amount of [0n, amountLimit]) {
      expect(await issue(units(amount))).toMatchObject({ ok: false, reason: 'invalid_amount' })
    }
    expect(taken()).toBe(0)
  })

  it('refuses less than the least amount it takes, and says what that is', async () => {
    const { issue, taken } = setup({ minAmount: 1000n })
    expect(await issue(units(999n))).toMatchObject({
      ok: false,
      reason: 'invalid_amount',
      message: 'the least amount taken here is 1000',
    })
    expect(taken()).toBe(0)
    expect((await issue(units(1000n))).ok).toBe(true)
  })

  it('below the least amount that is relayed, the offer and the record have no gasless path', async () => {
    const { issue, ledger } = setup({ relayMinAmount: 1000n })
    const dust = await issue(units(999n))
    expect(dust.ok && dust.value).not.toHaveProperty('helper')
    expect(dust.ok && dust.value).not.toHaveProperty('deadline')
    expect((await ledger.find(nonceOf(1)))?.challenge).not.toHaveProperty('deadline')
    const enough = await issue(units(1000n))
    expect(enough.ok && enough.value).toMatchObject({ helper: expect.any(String), deadline: 1_700_000_420 })
    expect((await ledger.find(nonceOf(2)))?.challenge.deadline).toBe(1_700_000_420)
  })

  it('R-171 tells the symbol and decimals of the token when the token told them, and has no such field otherwise', async () => {
    const tokenLabel = { symbol: 'zUSD', decimals: 6 }
    const labelled = await setup({ tokenLabel }).issue(units(1n))
    expect(labelled.ok && labelled.value.tokenLabel).toEqual(tokenLabel)
    const unlabelled = await setup().issue(units(1n))
    expect(unlabelled.ok && unlabelled.value).not.toHaveProperty('tokenLabel')
  })

  it('R-009 R-015 keeps the record that every payment is compared with', async () => {
    const { issue, ledger } = setup({})
    await issue(units(1000n))
    expect((await ledger.find(nonceOf(1)))?.challenge).toEqual({
      nonce: nonceOf(1),
      payTo: addressOf(1),
      powNonce: 1,
      treasury: deployment.treasury,
      listPrice: 1000n,
      amount: 1000n,
      issuedAt: 1_700_000_000,
      expiresAt: 1_700_000_300,
      deadline: 1_700_000_420,
      issuedAtBlock: 36n,
    })
  })

  it.each(['payer', 'provider'] as const)(
    'R-011 R-017 keeps the fee in the record, and shows it only when the payer bears it: %s',
    async (chargeTo) => {
      const { issue, ledger } = setup({ fee: { bps: 100, minPerPayment: units(0n), chargeTo } })
      const offer = await issue(units(1_000n))
      const isShown = chargeTo === 'payer'
      expect(offer.ok && [offer.value.amount, offer.value.fee]).toEqual(
        isShown ? ['1010', { amount: '10', bps: 100 }] : ['1000', undefined],
      )
      expect(offer.ok && 'fee' in offer.value).toBe(isShown)
      expect((await ledger.find(nonceOf(1)))?.challenge).toMatchObject({
        listPrice: 1_000n,
        amount: isShown ? 1_010n : 1_000n,
        fee: { amount: 10n, bps: 100, chargeTo },
      })
    },
  )

  it('refuses a fee that leaves nothing, and spends no address on it', async () => {
    const { issue, taken } = setup({ fee: { bps: 100, minPerPayment: units(0n), chargeTo: 'provider' } })
    expect(await issue(units(1n))).toMatchObject({ ok: false, reason: 'invalid_amount' })
    expect(taken()).toBe(0)
  })

  it('R-013 whole seconds: a challenge never lives longer than its lifetime', async () => {
    const { issue } = setup({})
    expect(await issue(units(1n))).toMatchObject({ ok: true, value: { expiresAt: 1_700_000_300 } })
  })
})
