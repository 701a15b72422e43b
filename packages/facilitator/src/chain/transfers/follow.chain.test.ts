/** Money at an issued address reaches the provider though nobody presents it. */
import { developmentRoles } from '@svc-zerc20/devnet'
import type { Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { movableClock } from '../../../../../test/support/clocks.js'
import { until } from '../../../../../test/support/until.js'
import { startNetwork, type TestNetwork } from '../../../test/network.js'
import { startOwnFacilitator } from '../../../test/own-facilitator.js'

const { provider } = developmentRoles
const hourMs = 3_600_000

let net: TestNetwork
let payer: PrivateKeyAccount
let provided = 0n
beforeAll(async () => {
  net = await startNetwork({
    finalization: true,
    config: {
      daemon: { follow_interval_ms: 1_000 },
      // Pieces of a payment are worth a mint here.
      settlement: { reorg_watch_blocks: 0, min_amount: '1' },
    },
  })
  payer = await net.account({ gas: true })
})
afterAll(() => net.close())

/** An offer that has expired an hour ago. */
async function expiredOffer(amount: string) {
  net.clock.advance(-hourMs)
  const offer = await net.challenge(amount)
  net.clock.advance(hourMs)
  return offer
}

async function expectProvided(more: bigint): Promise<void> {
  provided += more
  await until(async () => (await net.balanceOf(provider.address)) >= provided)
  expect(await net.balanceOf(provider.address)).toBe(provided)
}

const told = (event: string, nonce: Hex) =>
  net.events.filter(
    (each) => each.event === event && 'challengeNonce' in each && each.challengeNonce === nonce,
  )

type Late = {
  late: { challengeNonce: Hex; late: { value: string; reason: string } }[]
  stuck: { challengeNonce: Hex; stuck: string; transfers: { value: string }[] }[]
}
async function late(): Promise<Late> {
  const headers = { authorization: `Bearer ${net.adminToken}` }
  return (await net.send('/admin/late', { headers })).body as unknown as Late
}
const lateOf = async (nonce: Hex) => (await late()).late.find((each) => each.challengeNonce === nonce)?.late
const stuckOf = async (nonce: Hex) => (await late()).stuck.find((each) => each.challengeNonce === nonce)

describe('a transfer that nobody presents', () => {
  it('fault 8, fault 27: is found, recorded as late and minted, but is its payer’s while it can buy something', async () => {
    const offer = await net.challenge('700')
    await net.transfer(payer, offer.payTo, '700')
    const expired = await expiredOffer('1000')
    const txHash = await net.transfer(payer, expired.payTo, '1000')
    // Followed past both: the one that is open was left alone.
    await expectProvided(1000n)
    expect(told('burn.late', expired.challengeNonce)).toMatchObject([{ txHash }])
    expect(await lateOf(expired.challengeNonce)).toMatchObject({ value: '1000', reason: 'late' })
    expect((await net.status(expired.challengeNonce)).body.phase).toBe('expired')
    expect(await stuckOf(expired.challengeNonce)).toBeUndefined()

    expect(told('burn.found', offer.challengeNonce)).toEqual([])
    net.clock.advance(hourMs)
    await expectProvided(700n)
    expect(told('burn.late', offer.challengeNonce)).toEqual([])
    expect(told('burn.found', offer.challengeNonce)).toMatchObject([{ reason: 'unpresented', value: 700n }])
    expect(await lateOf(offer.challengeNonce)).toMatchObject({ reason: 'unpresented' })
    net.clock.advance(-hourMs)
  })

  it('fault 25: of a payment in pieces the largest is minted, and the rest is shown as stuck', async () => {
    const offer = await expiredOffer('1000')
    await net.transfer(payer, offer.payTo, '400')
    await expectProvided(400n)
    expect(await lateOf(offer.challengeNonce)).toMatchObject({ value: '400', reason: 'underpaid' })
    await net.transfer(payer, offer.payTo, '600')
    // A larger leaf would bring the difference, but a second mint would name the first.
    await until(async () => (await stuckOf(offer.challengeNonce))?.stuck === '600')
    expect((await stuckOf(offer.challengeNonce))?.transfers.map(({ value }) => value)).toEqual(['400', '600'])
  })

  it('fault 27, fault 31: beside an accepted burn is shown, and no mint marks that payment for a stranger', async () => {
    const { offer, body } = await net.permitPayment(payer, '500')
    expect((await net.settle(body)).body.success).toBe(true)
    await expectProvided(500n)
    await net.transfer(payer, offer.payTo, '300')
    await until(async () => (await stuckOf(offer.challengeNonce))?.stuck === '300')
    await net.transfer(payer, offer.payTo, '900')
    await until(async () => (await stuckOf(offer.challengeNonce))?.stuck === '1200')
    expect(told('burn.found', offer.challengeNonce)).toEqual([])
    const status = (await net.status(offer.challengeNonce)).body
    expect(status).toMatchObject({
      transaction: (await net.burnsOf(offer.challengeNonce))[0]?.transactionHash,
    })
    expect(status.phase).not.toBe('expired')
  })
})

describe('fault 27: after retention and restart', () => {
  it('the challenge counts as forgotten, and a transfer to it is minted all the same', async () => {
    const config = {
      settlement: { expired_challenge_retention_seconds: 0 },
      daemon: { follow_interval_ms: 1_000 },
      zerc20: { pool_size: 4 },
    }
    const journal = 'forgets.jsonl'
    const first = await startOwnFacilitator(net, { journal, config })
    const offer = await first.challenge('640')
    await first.close()

    const clock = movableClock()
    clock.advance(hourMs)
    const second = await startOwnFacilitator(net, { journal, config, clock })
    expect(await second.admin(`/payments/${offer.challengeNonce}`)).toMatchObject({
      reason: 'not_found',
    })
    await second.close()
    await net.transfer(payer, offer.payTo, '640')

    const third = await startOwnFacilitator(net, { journal, config, clock })
    try {
      await expectProvided(640n)
      expect(third.reported('burn.found')).toMatchObject([{ reason: 'unpresented', value: 640n }])
    } finally {
      await third.close()
    }
  })
})
