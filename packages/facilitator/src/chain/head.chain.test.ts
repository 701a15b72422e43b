import { permitBurnerAbi } from '@svc-zerc20/contracts'
import { startChain } from '@svc-zerc20/devnet'
import { encodeFunctionData } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../../../test/support/until.js'
import { startLyingNode } from '../../test/lying-node.js'
import { startNetwork, type TestNetwork } from '../../test/network.js'
import { bodyOf, burnRequestOf } from '../../test/payment.js'

let chain: Awaited<ReturnType<typeof startChain>>
let node: Awaited<ReturnType<typeof startLyingNode>>
let net: TestNetwork
let payer: PrivateKeyAccount
beforeAll(async () => {
  chain = await startChain()
  node = await startLyingNode(chain)
  net = await startNetwork({ chain, rpcUrl: node.url, config: { settlement: { confirmations: 2 } } })
  payer = await net.account({ gas: true })
})
afterEach(() => node.tellTruth())
afterAll(async () => {
  await net.close()
  await node.close()
  await chain.close()
})

const mineOne = () => chain.request('hardhat_mine', ['0x1'])

async function paidByTransfer() {
  const offer = await net.challenge()
  const burnTxHash = await net.transfer(payer, offer.payTo, offer.amount)
  return bodyOf(offer, { challengeNonce: offer.challengeNonce, burnTxHash })
}

/** A burn that a stranger submits, so that the facilitator has to find it on chain. */
async function expectFoundOnChain(payment: Awaited<ReturnType<TestNetwork['permitPayment']>>): Promise<void> {
  const { offer, payload, body } = payment
  const args = [burnRequestOf(offer, payload)] as const
  const data = encodeFunctionData({ abi: permitBurnerAbi, functionName: 'burn', args })
  const { transactionHash } = await net.transact(payer, { to: net.deployment.permitBurner, data })
  await mineOne()
  const answer = await until(async () => {
    const { body: settled } = await net.settle(body)
    return settled.errorReason === 'pending_burn' ? undefined : settled
  })
  expect(answer).toMatchObject({ success: true, transaction: transactionHash })
}

describe('fault 18 a node that names an absurd head once', () => {
  it('does not make a shallow burn deep, and is believed again afterwards', async () => {
    const body = await paidByTransfer()
    const { hasLied } = node.lieAboutHeadOnce()
    expect((await net.settle(body)).body).toMatchObject({ success: false, errorReason: 'pending_burn' })
    expect(hasLied()).toBe(true)
    await mineOne()
    expect((await net.settle(body)).body).toMatchObject({ success: true })
  })

  it('hides no burn of the challenges that are issued after it', async () => {
    const { hasLied } = node.lieAboutHeadOnce()
    await net.verify(await paidByTransfer())
    expect(hasLied()).toBe(true)
    await expectFoundOnChain(await net.permitPayment(await net.account()))
  })

  it('hides none either when it had the block, too, for a while: the head goes down again', async () => {
    const absurd = '0xffffffffff'
    node.lie(({ method, params }, truth) => {
      if (method === 'eth_blockNumber') return absurd
      if (method !== 'eth_getBlockByNumber') return undefined
      if (params[0] !== 'latest' && params[0] !== absurd) return undefined
      const latest = truth as object | null
      return { ...(latest ?? { hash: `0x${'ab'.repeat(32)}` }), number: absurd }
    })
    await net.verify(await paidByTransfer())
    const during = await net.permitPayment(await net.account())
    node.tellTruth()
    await expectFoundOnChain(during)
    await expectFoundOnChain(await net.permitPayment(await net.account()))
  })
})
