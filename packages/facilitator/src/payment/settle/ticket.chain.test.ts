import { permitBurnerAbi } from '@svc-zerc20/contracts'
import { encodeFunctionData } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../../../../test/support/until.js'
import { startNetwork, type TestNetwork } from '../../../test/network.js'
import { burnRequestOf } from '../../../test/payment.js'

let net: TestNetwork
let payer: PrivateKeyAccount
beforeAll(async () => {
  net = await startNetwork({ config: { settlement: { receipt_poll_ms: 100 } } })
  payer = await net.account({ gas: true })
})
afterEach(() => net.chain.resumeMining())
afterAll(() => net.close())

/** The same request as the seller sends it: with everything the offer held. */
function withTicket<T extends { paymentRequirements: { extra: object } }>(body: T, ticket: unknown): T {
  const { paymentRequirements } = body
  return {
    ...body,
    paymentRequirements: { ...paymentRequirements, extra: { ...paymentRequirements.extra, ticket } },
  }
}

describe('the ticket of an offer', () => {
  it('keeps whoever read a broadcast payload from the chain away from the payment', async () => {
    const { offer, payload, body } = await net.permitPayment(payer)
    const { ticket } = offer as typeof offer & { ticket: string }
    expect(ticket).toMatch(/^[0-9a-f]{32}$/)
    const seller = withTicket(body, ticket)
    await net.chain.pauseMining()
    expect((await net.settle(seller)).body.errorReason).toBe('pending_burn')
    await net.chain.resumeMining()
    await until(async () => (await net.status(offer.challengeNonce)).body.phase === 'accepted')
    // All of this stands in the calldata of the burn.
    for (const stolen of [payload, body, withTicket(body, 'guessed'), withTicket(body, undefined)]) {
      expect((await net.settle(stolen)).body).toMatchObject({ success: false, errorReason: 'pending_burn' })
    }
    expect((await net.verify(body)).body).toMatchObject({ isValid: true })
    expect((await net.settle(seller)).body).toMatchObject({ success: true, extra: { phase: 'accepted' } })
    expect((await net.settle(seller)).body.errorReason).toBe('already_accepted')
  })

  it('keeps a stranger away also when the seller sends the legacy body, with the ticket beside the payload', async () => {
    const { offer, payload, body } = await net.permitPayment(payer)
    const { ticket } = offer as typeof offer & { ticket: string }
    const seller = { ...payload, ticket }
    await net.chain.pauseMining()
    expect((await net.settle(seller)).body.errorReason).toBe('pending_burn')
    await net.chain.resumeMining()
    await until(async () => (await net.status(offer.challengeNonce)).body.phase === 'accepted')
    const almost = `${ticket.slice(0, -1)}${ticket.endsWith('0') ? '1' : '0'}`
    const guesses = [undefined, almost, ticket.toUpperCase(), `${ticket}00`, '', 7, [ticket], null]
    for (const stolen of [body, ...guesses.map((guess) => ({ ...payload, ticket: guess }))]) {
      expect((await net.settle(stolen)).body).toMatchObject({ success: false, errorReason: 'pending_burn' })
    }
    // The two shapes are one payment: its ticket is good in either.
    expect((await net.verify(withTicket(body, ticket))).body.isValid).toBe(true)
    expect((await net.settle(seller)).body).toMatchObject({ success: true, extra: { phase: 'accepted' } })
    expect((await net.settle(seller)).body.errorReason).toBe('already_accepted')
  })

  it('is no part of the payload: what was granted is already accepted with and without it, in either body', async () => {
    const { offer, payload, body } = await net.permitPayment(payer)
    const { ticket } = offer as typeof offer & { ticket: string }
    const settled = await until(async () => {
      const answer = (await net.settle(withTicket(body, ticket))).body
      return answer.errorReason === 'pending_burn' ? undefined : answer
    })
    expect(settled).toMatchObject({ success: true })
    const { transaction } = settled
    const told = {
      success: false,
      errorReason: 'already_accepted',
      transaction,
      extra: { phase: 'accepted' },
    }
    for (const again of [payload, { ...payload, ticket }, body, withTicket(body, ticket)]) {
      // The grant is used a moment after its answer was written.
      await until(async () => (await net.settle(again)).body.errorReason === 'already_accepted')
      expect((await net.settle(again)).body).toMatchObject(told)
    }
    expect((await net.verify(body)).body.invalidReason).toBe('already_accepted')
  })

  it('makes no difference while a burn is under way: another payload is refused, the same one is told to wait', async () => {
    const { offer, payload, body } = await net.permitPayment(await net.account())
    const { ticket } = offer as typeof offer & { ticket: string }
    const other = await net.permitFor(offer, await net.account())
    await net.chain.pauseMining()
    // Once the burn is signed, its hash is told.
    const transaction = await until(async () => (await net.settle(withTicket(body, ticket))).body.transaction)
    expect((await net.settle(payload)).body).toMatchObject({ errorReason: 'pending_burn', transaction })
    expect((await net.settle(other)).body.errorReason).toBe('challenge_claimed')
  })

  it('is not asked of whoever paid without one, as older integrations do', async () => {
    const { payload } = await net.permitPayment(payer)
    const answer = await until(async () => {
      const { body } = await net.settle(payload)
      return body.errorReason === 'pending_burn' ? undefined : body
    })
    expect(answer).toMatchObject({ success: true })
  })

  it('is another one for every offer', async () => {
    const offers = await Promise.all(Array.from({ length: 5 }, () => net.permitPayment(payer)))
    const tickets = offers.map(({ offer }) => (offer as typeof offer & { ticket: string }).ticket)
    expect(new Set(tickets).size).toBe(5)
  })
})

describe('a permit that a stranger executed and nobody presented in time', () => {
  it('is recorded as late when it is presented after expiry, and its hash is told', async () => {
    const { offer, payload, body } = await net.permitPayment(payer)
    const data = encodeFunctionData({
      abi: permitBurnerAbi,
      functionName: 'burn',
      args: [burnRequestOf(offer, payload)],
    })
    const stranger = await net.account({ gas: true })
    const receipt = await net.transact(stranger, { to: net.deployment.permitBurner, data, gas: 500_000n })
    net.clock.advance(301_000)
    expect((await net.settle(body)).body).toMatchObject({
      success: false,
      errorReason: 'challenge_expired',
      transaction: receipt.transactionHash,
    })
    expect(net.events).toContainEqual({
      event: 'burn.late',
      challengeNonce: offer.challengeNonce,
      txHash: receipt.transactionHash,
    })
  })
})
