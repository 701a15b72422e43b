import { tokenAbi } from '@svc-zerc20/contracts'
import { developmentRoles } from '@svc-zerc20/devnet'
import { encodeFunctionData, parseGwei } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../../../../test/support/until.js'
import { startNetwork, type TestNetwork } from '../../../test/network.js'
import { bodyOf } from '../../../test/payment.js'

let net: TestNetwork
let payer: PrivateKeyAccount
beforeAll(async () => {
  // Requests to the node are counted: nothing may be asked in the background.
  net = await startNetwork({
    config: { settlement: { reorg_watch_blocks: 0 }, zerc20: { pool_size: 96 } },
  })
  payer = await net.account({ gas: true })
})
afterEach(() => net.chain.resumeMining())
afterAll(() => net.close())

const relayer = developmentRoles.relayer.address

async function selfTransferBody() {
  const offer = await net.challenge()
  const burnTxHash = await net.transfer(payer, offer.payTo, offer.amount)
  return { offer, body: bodyOf(offer, { challengeNonce: offer.challengeNonce, burnTxHash }) }
}

describe('verify', () => {
  it('R-129 mutates nothing, however often it is asked', async () => {
    const payments = [await net.permitPayment(payer), await selfTransferBody()]
    const visible = async () => ({
      block: await net.client.getBlockNumber(),
      relayerNonce: await net.client.getTransactionCount({ address: relayer, blockTag: 'pending' }),
      permitNonce: await net.permitNonce(payer.address),
      balance: await net.balanceOf(payer.address),
      statuses: await Promise.all(
        payments.map(async ({ offer }) => (await net.status(offer.challengeNonce)).body),
      ),
      events: net.events.filter((told) => 'challengeNonce' in told),
    })
    const before = await visible()
    for (const { body } of payments) {
      const answers = await Promise.all(Array.from({ length: 10 }, () => net.verify(body)))
      expect(answers.every((answer) => answer.body.isValid)).toBe(true)
    }
    expect(await visible()).toEqual(before)
    for (const { body } of payments) expect((await net.settle(body)).body.success).toBe(true)
  })

  it('finds out who signed, and the settle behind it need not', async () => {
    const recovered = async () => {
      const headers = { authorization: `Bearer ${net.adminToken}` }
      const { text } = await net.send('/admin/metrics', { headers })
      return Number(/^svc_signatures_recovered_total (\d+)$/m.exec(text)?.[1])
    }
    const { body } = await net.permitPayment(payer)
    const before = await recovered()
    expect((await net.verify(body)).body.isValid).toBe(true)
    expect(await recovered()).toBe(before + 2)
    expect((await net.settle(body)).body.success).toBe(true)
    expect(await recovered()).toBe(before + 2)
  })

  it('R-129 R-130 is no claim: two payloads for one challenge are both valid, and only one is paid', async () => {
    const { offer, body } = await net.permitPayment(payer)
    const other = bodyOf(offer, await net.permitFor(offer, await net.account()))
    expect((await net.verify(body)).body.isValid).toBe(true)
    expect((await net.verify(other)).body.isValid).toBe(true)
    const answers = await Promise.all([net.settle(body), net.settle(other)])
    expect(answers.map((answer) => answer.body.success).sort()).toEqual([false, true])
    expect(await net.burnsOf(offer.challengeNonce)).toHaveLength(1)
  })

  it('asks the node exactly once for a permit, and once for a self-transfer', async () => {
    const permit = await net.permitPayment(payer)
    expect(await net.nodeRequestsDuring(() => net.verify(permit.body))).toBe(1)
    const transfer = await selfTransferBody()
    expect(await net.nodeRequestsDuring(() => net.verify(transfer.body))).toBe(1)
  })

  it('does not ask the node at all for what it knows to be wrong', async () => {
    const wrong = await net.permitPayment(payer, '1000', { value: 1n })
    expect(await net.nodeRequestsDuring(() => net.verify(wrong.body))).toBe(0)
  })

  it('many at once share few requests to the node', async () => {
    const nonce = await net.permitNonce(payer.address)
    const payments = await net.permitPayments(Array(60).fill(payer), '10', { nonce })
    let answers: Awaited<ReturnType<TestNetwork['verify']>>[] = []
    const requests = await net.nodeRequestsDuring(async () => {
      answers = await Promise.all(payments.map(({ body }) => net.verify(body)))
    })
    expect(answers.every((answer) => answer.body.isValid)).toBe(true)
    expect(requests).toBeLessThan(payments.length / 2)
  })
})

describe('settlements that arrive together', () => {
  it('R-028 share few transactions, and each fails alone', async () => {
    const payers = await Promise.all(Array.from({ length: 30 }, () => net.account()))
    const drained = payers.slice(0, 3)
    for (const { address } of drained) await net.faucet.sendNative(address, 10n ** 18n)
    const payments = await net.permitPayments(payers)
    const sent = await net.client.getTransactionCount({ address: relayer })
    await net.chain.pauseMining()
    const settling = payments.map(({ body }) => net.settle(body))
    const nonces = new Set(payments.map(({ offer }) => String(offer.challengeNonce)))
    await until(() => {
      const out = net.events.filter(
        (event) => event.event === 'burn.broadcast' && nonces.has(event.challengeNonce),
      )
      return out.length === payments.length
    })
    for (const account of drained) {
      await net.walletOf(account).sendTransaction({
        to: net.deployment.token,
        data: encodeFunctionData({
          abi: tokenAbi,
          functionName: 'transfer',
          args: [payer.address, 1_000_000n],
        }),
        gas: 200_000n,
        maxFeePerGas: parseGwei('900'),
        maxPriorityFeePerGas: parseGwei('900'),
      })
    }
    await net.chain.resumeMining()
    const answers = await Promise.all(settling)
    expect(answers.slice(0, 3).map(({ body }) => body.errorReason)).toEqual([
      'insufficient_funds',
      'insufficient_funds',
      'insufficient_funds',
    ])
    expect(answers.slice(3).every(({ body }) => body.success)).toBe(true)
    expect((await net.client.getTransactionCount({ address: relayer })) - sent).toBeLessThanOrEqual(4)
    const receipts = await net.relayerReceipts()
    expect(receipts.filter(({ status }) => status !== 'success')).toEqual([])
  })
})
