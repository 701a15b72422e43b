import { developmentRoles } from '@svc-zerc20/devnet'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startNetwork, type TestNetwork } from '../../../test/network.js'
import { startOwnFacilitator } from '../../../test/own-facilitator.js'
import { bodyOf, type ChallengeOffer } from '../../../test/payment.js'

const recipient = '0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc'
const payerFee = { bps: 250, min_per_payment: '7', charge_to: 'payer', recipient }
const providerFee = { ...payerFee, charge_to: 'provider' }

let net: TestNetwork
beforeAll(async () => {
  net = await startNetwork({ config: { fee: payerFee } })
})
afterAll(() => net.close())

type Own = Awaited<ReturnType<typeof startOwnFacilitator>>
type Recorded = { readonly payment: Record<string, unknown> }
const recorded = async (own: Pick<Own, 'admin'>, { challengeNonce }: ChallengeOffer) =>
  ((await own.admin(`/payments/${challengeNonce}`)) as Recorded).payment
const here = { admin: async (path: string) => (await net.admin(path)).body }

describe('a fee that the payer bears', () => {
  it('R-011 R-017 is in the amount and beside it, and the whole amount is paid', async () => {
    const payer = await net.account()
    const { offer, body } = await net.permitPayment(payer, '1000')
    expect([offer.amount, offer.fee]).toEqual(['1025', { amount: '25', bps: 250 }])
    expect((await net.settle(body)).body.success).toBe(true)
    expect(await recorded(here, offer)).toMatchObject({
      amount: '1025',
      listPrice: '1000',
      burn: { value: '1025' },
      fee: { amount: '25', bps: 250, chargeTo: 'payer', recipient },
    })
    expect(net.events).toContainEqual(
      expect.objectContaining({ event: 'payment.accepted', challengeNonce: offer.challengeNonce, fee: 25n }),
    )
    expect((await net.admin('/metrics')).text).toMatch(/^svc_fees_base_units_total 25$/m)
  })

  it('R-011 is not avoided by paying the list price, whatever the echoed offer says', async () => {
    const payer = await net.account()
    const offer = await net.challenge('1000')
    const cheap = await net.permitFor({ ...offer, amount: '1000' }, payer)
    expect((await net.settle(bodyOf(offer, cheap))).body.errorReason).toBe('value_mismatch')
    const { fee: _, ...feeless } = offer
    const forged = bodyOf({ ...feeless, amount: '1000' }, cheap)
    expect((await net.verify(forged)).body.invalidReason).toBe('requirements_mismatch')
    expect((await net.settle(forged)).body.errorReason).toBe('requirements_mismatch')
  })

  it('is as large as it was recorded, whatever the echoed offer says', async () => {
    const payer = await net.account()
    const { offer, payload } = await net.permitPayment(payer, '1000')
    const forged = bodyOf({ ...offer, fee: { amount: '0', bps: 0 } }, payload)
    expect((await net.settle(forged)).body.success).toBe(true)
    expect(await recorded(here, offer)).toMatchObject({ fee: { amount: '25', bps: 250 } })
  })

  it.each([
    ['1', '8', '7'],
    ['280', '287', '7'],
    ['281', '289', '8'],
    [`${2n ** 247n}`, `${2n ** 247n + (2n ** 247n * 250n) / 10_000n + 1n}`, undefined],
  ])('R-011 of %s makes it %s', async (listPrice, amount, fee) => {
    const offer = await net.challenge(listPrice)
    expect(offer.amount).toBe(amount)
    expect(BigInt(offer.amount) - BigInt(offer.fee?.amount ?? 0)).toBe(BigInt(listPrice))
    if (fee !== undefined) expect(offer.fee?.amount).toBe(fee)
  })

  it('makes no amount that the chain cannot hold', async () => {
    const { status, body } = await net.post('/challenge', { amount: `${2n ** 248n - 1n}` })
    expect([status, body.reason]).toEqual([400, 'invalid_amount'])
    expect(body.error).toMatch(/^with the fee of \d+ the amount is not below 2\^248$/)
  })
})

describe('a fee that the provider bears', () => {
  it('R-017 is not on the wire; the operator sees it; one that leaves nothing is refused', async () => {
    const own = await startOwnFacilitator(net, {
      journal: 'provider-fee.jsonl',
      config: { fee: providerFee },
    })
    try {
      const offer = await own.challenge('1000')
      expect(offer.amount).toBe('1000')
      expect(offer).not.toHaveProperty('fee')
      expect(await recorded(own, offer)).toMatchObject({ fee: { amount: '25', chargeTo: 'provider' } })
      expect(await own.post('/challenge', { amount: '7' })).toEqual({
        error: 'the fee leaves the provider nothing of 7',
        reason: 'invalid_amount',
      })
      expect((await own.challenge('8')).amount).toBe('8')
    } finally {
      await own.close()
    }
  })
})

describe('a changed fee', () => {
  it('changes no challenge that was issued before, paid or open, through restarts', async () => {
    const journal = 'changed-fee.jsonl'
    const before = await startOwnFacilitator(net, { journal, config: { fee: payerFee } })
    const [paid, open] = [await before.challenge('1000'), await before.challenge('2000')]
    const pay = async (own: Own, offer: ChallengeOffer) =>
      own.post('/settle', bodyOf(offer, await net.permitFor(offer, await net.account())))
    expect(await pay(before, paid)).toMatchObject({ success: true })
    await before.close()

    const after = await startOwnFacilitator(net, {
      journal,
      config: { fee: { ...providerFee, bps: 5_000, recipient: developmentRoles.relayer.address } },
    })
    expect(await pay(after, open)).toMatchObject({ success: true })
    const fresh = await after.challenge('1000')
    expect(fresh.amount).toBe('1000')
    await after.close()

    const last = await startOwnFacilitator(net, { journal })
    try {
      const fee = { bps: 250, chargeTo: 'payer', recipient }
      expect(await recorded(last, paid)).toMatchObject({
        amount: '1025',
        burn: { value: '1025' },
        fee: { amount: '25', ...fee },
      })
      expect(await recorded(last, open)).toMatchObject({
        amount: '2050',
        burn: { value: '2050' },
        fee: { amount: '50', ...fee },
      })
      expect(await recorded(last, fresh)).toMatchObject({ fee: { amount: '500', bps: 5_000 } })
    } finally {
      await last.close()
    }
  })
})
