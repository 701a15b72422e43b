import { request } from 'node:http'
import { connect } from 'node:net'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../../../../test/support/until.js'
import { startNetwork, type TestNetwork } from '../../../test/network.js'
import { bodyOf } from '../../../test/payment.js'

let net: TestNetwork
let payer: PrivateKeyAccount
beforeAll(async () => {
  net = await startNetwork()
  payer = await net.account({ gas: true })
})
afterEach(() => net.chain.resumeMining())
afterAll(() => net.close())

const wasBroadcast = (challengeNonce: string) =>
  until(() =>
    net.events.some((event) => event.event === 'burn.broadcast' && event.challengeNonce === challengeNonce),
  )

/** A settle whose caller hangs up before the answer; resolves when the connection is gone on both ends. */
function settleAndHangUp(body: object): { hangUp(): Promise<void> } {
  const call = request(`${net.facilitatorUrl}/settle`, {
    method: 'POST',
    agent: false,
    headers: { 'content-type': 'application/json' },
  })
  call.on('error', () => undefined)
  const closed = new Promise((resolve) => call.on('close', resolve))
  call.end(JSON.stringify(body))
  return {
    async hangUp() {
      call.destroy()
      await closed
      // Two round trips on other connections: by then the server has seen this one close.
      for (let trip = 0; trip < 2; trip++) await net.send('/supported')
    },
  }
}

describe('granted once', () => {
  it('the first settle is a success; the next gets already_accepted with the hash and the phase', async () => {
    const { body } = await net.permitPayment(payer)
    const first = (await net.settle(body)).body
    expect(first.success).toBe(true)
    const again = await net.settle(body)
    expect(again.status).toBe(200)
    expect(again.body).toMatchObject({
      success: false,
      errorReason: 'already_accepted',
      transaction: first.transaction,
      network: 'eip155:31337',
      extra: { phase: 'accepted' },
    })
    expect((await net.verify(body)).body.invalidReason).toBe('already_accepted')
  })

  it('holds for a self-transfer too', async () => {
    const offer = await net.challenge()
    const burnTxHash = await net.transfer(payer, offer.payTo, offer.amount)
    const body = bodyOf(offer, { challengeNonce: offer.challengeNonce, burnTxHash })
    expect((await net.settle(body)).body.success).toBe(true)
    expect((await net.settle(body)).body).toMatchObject({
      errorReason: 'already_accepted',
      transaction: burnTxHash,
      extra: { phase: 'accepted' },
    })
    const legacy = await net.settle({ challengeNonce: offer.challengeNonce, burnTxHash })
    expect(legacy.body.errorReason).toBe('already_accepted')
  })

  it('R-132 fault 13 the same payload 16 times at once: 1 success, 15 already_accepted, one burn, nothing reverted', async () => {
    const { offer, body } = await net.permitPayment(payer)
    const answers = await Promise.all(Array.from({ length: 16 }, () => net.settle(body)))
    const winners = answers.filter((answer) => answer.body.success)
    expect(winners).toHaveLength(1)
    const losers = answers.filter((answer) => !answer.body.success)
    for (const { status, body: answer } of losers) {
      expect([status, answer.errorReason, answer.extra?.phase]).toEqual([200, 'already_accepted', 'accepted'])
      expect(answer.transaction).toBe(winners[0]?.body.transaction)
    }
    expect(await net.burnsOf(offer.challengeNonce)).toHaveLength(1)
    expect(await net.balanceOf(offer.payTo)).toBe(1000n)
    const receipts = await net.relayerReceipts()
    expect(receipts.filter(({ status }) => status !== 'success')).toEqual([])
  })

  it('16 times at once through both bodies grants once as well', async () => {
    const { payload, body } = await net.permitPayment(payer)
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, i) => net.settle(i % 2 === 0 ? body : payload)),
    )
    expect(answers.filter((answer) => answer.body.success)).toHaveLength(1)
  })

  it('an answer that could not be written leaves the grant open for the next', async () => {
    const { offer, body } = await net.permitPayment(await net.account())
    await net.chain.pauseMining()
    const caller = settleAndHangUp(body)
    await wasBroadcast(offer.challengeNonce)
    await caller.hangUp()
    await net.chain.resumeMining()
    await until(async () => (await net.status(offer.challengeNonce)).body.phase === 'accepted')
    expect((await net.verify(body)).body.isValid).toBe(true)
    expect((await net.settle(body)).body.success).toBe(true)
    expect((await net.settle(body)).body.errorReason).toBe('already_accepted')
    expect(await net.burnsOf(offer.challengeNonce)).toHaveLength(1)
  })

  it('of two callers that wait together, the one that stays gets the success', async () => {
    const { offer, body } = await net.permitPayment(await net.account())
    await net.chain.pauseMining()
    const leaver = settleAndHangUp(body)
    await wasBroadcast(offer.challengeNonce)
    const stayer = net.settle(body)
    await leaver.hangUp()
    await net.chain.resumeMining()
    expect((await stayer).body.success).toBe(true)
  })
})

describe('pipelined requests', () => {
  it('a payment that waits behind another one is not touched before that one is answered', async () => {
    const slow = await net.permitPayment(await net.account())
    const offer = await net.challenge()
    const burnTxHash = await net.transfer(payer, offer.payTo, offer.amount)
    const ready = bodyOf(offer, { challengeNonce: offer.challengeNonce, burnTxHash })
    await net.chain.pauseMining()

    const { hostname, port } = new URL(net.facilitatorUrl)
    const socket = connect(Number(port), hostname)
    await new Promise((resolve) => socket.once('connect', resolve))
    for (const body of [slow.body, ready]) {
      const text = JSON.stringify(body)
      socket.write(
        `POST /settle HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`,
      )
    }
    await until(async () => (await net.status(slow.offer.challengeNonce)).body.transaction)
    expect((await net.status(offer.challengeNonce)).body.phase).toBe('open')
    socket.destroy()
    expect((await net.settle(ready)).body).toMatchObject({ success: true, transaction: burnTxHash })
  })
})

describe('GET /payments/{challengeNonce}', () => {
  it('tells phase, amount, times and burn hash, and nothing else', async () => {
    const { offer, body } = await net.permitPayment(payer)
    const open = await net.status(offer.challengeNonce)
    expect([open.status, open.body]).toEqual([
      200,
      {
        challengeNonce: offer.challengeNonce,
        phase: 'open',
        amount: '1000',
        issuedAt: offer.expiresAt - 300,
        expiresAt: offer.expiresAt,
      },
    ])
    const { transaction } = (await net.settle(body)).body
    expect((await net.status(offer.challengeNonce.toUpperCase().replace('0X', '0x'))).body).toEqual({
      ...open.body,
      phase: 'accepted',
      transaction,
      acceptedAt: expect.any(Number),
    })
  })

  it.each([`0x${'77'.repeat(32)}`, 'nothing', '0x', '%20', `0x${'7'.repeat(120)}`])(
    'knows no payment at %s',
    async (nonce) => {
      const { status, body } = await net.status(nonce)
      expect([status, body.reason]).toEqual([404, 'not_found'])
    },
  )
})
