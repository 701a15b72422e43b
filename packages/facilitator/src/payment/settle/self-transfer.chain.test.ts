import { permitBurnerAbi, tokenAbi, tokenBytecode } from '@svc-zerc20/contracts'
import { minedReceipt } from '@svc-zerc20/devnet'
import { encodeDeployData, encodeFunctionData, type Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../../../../test/support/until.js'
import { startNetwork, type TestNetwork } from '../../../test/network.js'
import { bodyOf, burnRequestOf, type ChallengeOffer } from '../../../test/payment.js'

let net: TestNetwork
let payer: PrivateKeyAccount
beforeAll(async () => {
  net = await startNetwork()
  payer = await net.account({ gas: true })
})
afterEach(() => net.chain.setFaults([]))
afterAll(() => net.close())

const paidBy = (offer: ChallengeOffer, burnTxHash: string) =>
  bodyOf(offer, { challengeNonce: offer.challengeNonce, burnTxHash })

/** Verify and settle agree; the payer's hash is repeated when the chain knows it. */
async function expectRefused(body: object, reason: string, transaction: string): Promise<void> {
  const verified = await net.verify(body)
  expect([verified.status, verified.body.isValid, verified.body.invalidReason]).toEqual([200, false, reason])
  const settled = await net.settle(body)
  expect(settled.status).toBe(200)
  expect(settled.body).toMatchObject({ success: false, errorReason: reason, transaction })
}

/** One transaction with several transfers of the payer, through the helper's batch. */
async function payInOneTransaction(transfers: readonly { payTo: Hex; value: bigint }[]): Promise<Hex> {
  const offer = await net.challenge()
  const nonce = await net.permitNonce(payer.address)
  const requests = await Promise.all(
    transfers.map(async ({ payTo, value }, i) => {
      const challengeNonce =
        `0x${(i + 1).toString(16).padStart(2, '0')}${offer.challengeNonce.slice(4)}` as Hex
      const target = { ...offer, payTo, amount: `${value}`, challengeNonce }
      return burnRequestOf(target, await net.permitFor(target, payer, { nonce: nonce + BigInt(i) }))
    }),
  )
  const data = encodeFunctionData({ abi: permitBurnerAbi, functionName: 'burnBatch', args: [requests] })
  const receipt = await net.transact(payer, { to: net.deployment.permitBurner, data, gas: 2_000_000n })
  expect(receipt.status).toBe('success')
  return receipt.transactionHash
}

describe('a good self-transfer', () => {
  it('R-032 R-112 R-005 R-006 is accepted with its own hash', async () => {
    const offer = await net.challenge()
    const hash = await net.transfer(payer, offer.payTo, offer.amount)
    const body = paidBy(offer, hash)
    expect((await net.verify(body)).body).toEqual({ isValid: true })
    expect((await net.settle(body)).body).toEqual({
      success: true,
      transaction: hash,
      network: 'eip155:31337',
      extra: { phase: 'accepted' },
    })
    expect((await net.status(offer.challengeNonce)).body).toMatchObject({
      phase: 'accepted',
      transaction: hash,
      amount: '1000',
    })
  })

  it('R-126 R-172 counts in the legacy direct body too', async () => {
    const offer = await net.challenge()
    const burnTxHash = await net.transfer(payer, offer.payTo, offer.amount)
    const { body } = await net.settle({ challengeNonce: offer.challengeNonce, burnTxHash, later: true })
    expect(body).toMatchObject({ success: true, transaction: burnTxHash })
  })

  it('is accepted when it pays more than the amount', async () => {
    const offer = await net.challenge()
    const hash = await net.transfer(payer, offer.payTo, 1500n)
    expect((await net.settle(paidBy(offer, hash))).body.success).toBe(true)
  })

  it('may pay two challenges in one transaction, each with a transfer of its own', async () => {
    const offers = [await net.challenge('600'), await net.challenge('700')]
    const hash = await payInOneTransaction(
      offers.map(({ payTo, amount }) => ({ payTo, value: BigInt(amount) })),
    )
    for (const offer of offers) {
      expect((await net.settle(paidBy(offer, hash))).body).toMatchObject({ success: true, transaction: hash })
    }
  })

  it('R-016 R-027 is the only way when no helper is configured: a permit is refused by name', async () => {
    const plain = await startNetwork({ config: { settlement: { permit_burner: undefined } } })
    try {
      const offer = await plain.challenge()
      expect(offer).not.toHaveProperty('helper')
      expect(offer).not.toHaveProperty('deadline')
      const account = await plain.account({ gas: true })
      const permit = bodyOf(offer, await plain.permitFor(offer, account))
      expect((await plain.verify(permit)).body.invalidReason).toBe('permit_not_offered')
      expect((await plain.settle(permit)).body.errorReason).toBe('permit_not_offered')
      const hash = await plain.transfer(account, offer.payTo, offer.amount)
      expect((await plain.settle(paidBy(offer, hash))).body.success).toBe(true)
    } finally {
      await plain.close()
    }
  })
})

describe('R-129 R-005 a transaction that does not pay the challenge', () => {
  it('is burn_not_found when the chain does not know it', async () => {
    const offer = await net.challenge()
    await expectRefused(paidBy(offer, `0x${'ab'.repeat(32)}`), 'burn_not_found', '')
  })

  it('is burn_reverted when it failed', async () => {
    const offer = await net.challenge()
    const data = encodeFunctionData({
      abi: tokenAbi,
      functionName: 'transfer',
      args: [offer.payTo, 10n ** 30n],
    })
    const { status, transactionHash } = await net.transact(payer, { to: net.deployment.token, data })
    expect(status).toBe('reverted')
    await expectRefused(paidBy(offer, transactionHash), 'burn_reverted', transactionHash)
  })

  it('is burn_mismatch when it moves another token to payTo', async () => {
    const offer = await net.challenge()
    const constructorData = encodeDeployData({
      abi: tokenAbi,
      bytecode: tokenBytecode,
      args: ['Other', 'OTHER', 6, payer.address],
    })
    const wallet = net.walletOf(payer)
    const deployed = await wallet.sendTransaction({ data: constructorData, to: null, gas: 5_000_000n })
    const { contractAddress } = await minedReceipt(net.client, deployed)
    const other = contractAddress ?? '0x'
    const call = (functionName: 'setMinter' | 'mint', args: readonly [Hex] | readonly [Hex, bigint]) =>
      net.transact(payer, {
        to: other,
        data: encodeFunctionData({ abi: tokenAbi, functionName, args } as never),
      })
    await call('setMinter', [payer.address])
    const minted = await call('mint', [offer.payTo, 1000n])
    expect(minted.status).toBe('success')
    await expectRefused(paidBy(offer, minted.transactionHash), 'burn_mismatch', minted.transactionHash)
  })

  it('is burn_mismatch when it moves native money to payTo', async () => {
    const offer = await net.challenge()
    const { transactionHash } = await net.transact(payer, { to: offer.payTo, value: 1000n })
    await expectRefused(paidBy(offer, transactionHash), 'burn_mismatch', transactionHash)
  })

  it('is burn_underpaid below the amount, also when dust lay at payTo before, and the operator is told', async () => {
    const offer = await net.challenge()
    await net.transfer(payer, offer.payTo, 1n)
    const hash = await net.transfer(payer, offer.payTo, 999n)
    await expectRefused(paidBy(offer, hash), 'burn_underpaid', hash)
    expect(net.events).toContainEqual({
      event: 'burn.unmatched',
      challengeNonce: offer.challengeNonce,
      txHash: hash,
      reason: 'burn_underpaid',
    })
    const good = await net.transfer(payer, offer.payTo, offer.amount)
    expect((await net.settle(paidBy(offer, good))).body.success).toBe(true)
  })

  it('is burn_split when only several transfers together reach the amount', async () => {
    const offer = await net.challenge()
    const half = { payTo: offer.payTo, value: 500n }
    const hash = await payInOneTransaction([half, half])
    await expectRefused(paidBy(offer, hash), 'burn_split', hash)
    expect(net.events).toContainEqual(
      expect.objectContaining({ event: 'burn.unmatched', reason: 'burn_split', txHash: hash }),
    )
  })

  it('is burn_mismatch for a second challenge: one transfer pays once', async () => {
    const [first, second] = [await net.challenge(), await net.challenge()]
    const hash = await net.transfer(payer, first.payTo, first.amount)
    expect((await net.settle(paidBy(first, hash))).body.success).toBe(true)
    await expectRefused(paidBy(second, hash), 'burn_mismatch', hash)
  })

  it('is challenge_claimed when another burn already paid', async () => {
    const offer = await net.challenge()
    const first = await net.transfer(payer, offer.payTo, offer.amount)
    expect((await net.settle(paidBy(offer, first))).body.success).toBe(true)
    const second = await net.transfer(payer, offer.payTo, offer.amount)
    await expectRefused(paidBy(offer, second), 'challenge_claimed', first)
  })

  it('is burn_not_held while the balance of payTo does not show it, and good once it does', async () => {
    const offer = await net.challenge()
    const hash = await net.transfer(payer, offer.payTo, offer.amount)
    net.chain.setFaults([{ method: 'eth_call', kind: 'lag', blocks: 1 }])
    await expectRefused(paidBy(offer, hash), 'burn_not_held', hash)
    net.chain.setFaults([])
    expect((await net.settle(paidBy(offer, hash))).body.success).toBe(true)
  })

  it.each([
    ['no hash at all', {}],
    ['a hash of 31 bytes', { burnTxHash: `0x${'ab'.repeat(31)}` }],
    ['a hash that is a number', { burnTxHash: 7 }],
  ])('R-032 is malformed with %s', async (_name, fields) => {
    const offer = await net.challenge()
    const body = bodyOf(offer, { challengeNonce: offer.challengeNonce, ...fields })
    await expectRefused(body, 'malformed_payload', '')
  })
})

describe('a node that fails', () => {
  const faults: [string, Parameters<TestNetwork['chain']['setFaults']>[0]][] = [
    ['does not answer properly', [{ method: '*', kind: 'httpStatus', status: 502 }]],
    ['refuses the call', [{ method: 'eth_call', kind: 'error', message: 'busy' }]],
    ['answers with nothing', [{ method: 'eth_call', kind: 'result', value: '0x' }]],
    ['answers with a broken receipt', [{ method: 'eth_getTransactionReceipt', kind: 'result', value: {} }]],
    [
      'answers with a broken log',
      [
        {
          method: 'eth_getTransactionReceipt',
          kind: 'result',
          value: { transactionHash: `0x${'ab'.repeat(32)}`, status: '0x1', blockNumber: '0x1', logs: [{}] },
        },
      ],
    ],
  ]
  it.each(faults)(
    'that %s gives chain_unavailable with Retry-After, and the payment is not lost',
    async (_name, fault) => {
      const offer = await net.challenge()
      const hash = await net.transfer(payer, offer.payTo, offer.amount)
      net.chain.setFaults(fault)
      const verified = await net.verify(paidBy(offer, hash))
      expect([verified.status, verified.body.invalidReason]).toEqual([503, 'chain_unavailable'])
      const settled = await net.settle(paidBy(offer, hash))
      expect(settled.status).toBe(503)
      expect(settled.body).toMatchObject({
        success: false,
        errorReason: 'chain_unavailable',
        transaction: '',
        network: 'eip155:31337',
      })
      expect(Number(settled.headers.get('retry-after'))).toBeGreaterThan(0)
      net.chain.setFaults([])
      expect((await net.settle(paidBy(offer, hash))).body.success).toBe(true)
    },
  )
})

describe('confirmations', () => {
  it('R-113 a burn that is not deep enough is pending_burn, and stays good past expiry once presented', async () => {
    const deep = await startNetwork({ config: { settlement: { confirmations: 3 } } })
    try {
      const account = await deep.account({ gas: true })
      const offer = await deep.challenge()
      const hash = await deep.transfer(account, offer.payTo, offer.amount)
      const body = paidBy(offer, hash)
      // Else the official middleware, which verifies first, would never come to settle.
      expect((await deep.verify(body)).body).toMatchObject({ isValid: true })
      const pending = await deep.settle(body)
      expect(pending.body).toMatchObject({
        success: false,
        errorReason: 'pending_burn',
        transaction: hash,
      })
      expect((await deep.status(offer.challengeNonce)).body.phase).toBe('open')
      deep.clock.advance(3_600_000)
      await deep.chain.mine(2)
      expect((await deep.settle(body)).body).toMatchObject({ success: true, transaction: hash })
    } finally {
      await deep.close()
    }
  })

  it('R-132 a burn that a stranger executed needs them too, also once it is too late', async () => {
    const deep = await startNetwork({
      config: { settlement: { confirmations: 3, receipt_poll_ms: 150 } },
    })
    try {
      const account = await deep.account({ gas: true })
      const executed = async () => {
        const payment = await deep.permitPayment(account)
        const data = encodeFunctionData({
          abi: permitBurnerAbi,
          functionName: 'burn',
          args: [burnRequestOf(payment.offer, payment.payload)],
        })
        const { transactionHash } = await deep.transact(account, { to: deep.deployment.permitBurner, data })
        return { ...payment, transactionHash }
      }
      const first = await executed()
      expect((await deep.settle(first.body)).body).toMatchObject({ errorReason: 'pending_burn' })
      await deep.chain.mine(2)
      await until(async () => (await deep.status(first.offer.challengeNonce)).body.phase === 'accepted')
      expect((await deep.settle(first.body)).body).toMatchObject({
        success: true,
        transaction: first.transactionHash,
      })
      const late = await executed()
      deep.clock.advance(3_600_000)
      const expired = { errorReason: 'challenge_expired' }
      expect((await deep.settle(late.body)).body).toMatchObject({ ...expired, transaction: '' })
      await deep.chain.mine(2)
      expect((await deep.settle(late.body)).body).toMatchObject({
        ...expired,
        transaction: late.transactionHash,
      })
    } finally {
      await deep.close()
    }
  })
})

describe('R-018 R-111 past expiry', () => {
  it('a burn buys nothing: challenge_expired with its hash, recorded as late', async () => {
    const offer = await net.challenge()
    net.clock.advance(301_000)
    const hash = await net.transfer(payer, offer.payTo, offer.amount)
    const isLate = { event: 'burn.late', challengeNonce: offer.challengeNonce, txHash: hash }
    await expectRefused(paidBy(offer, hash), 'challenge_expired', hash)
    expect(net.events).toContainEqual(isLate)
    // Recorded, it outlives the retention of other expired challenges.
    net.clock.advance(3_601_000)
    expect((await net.status(offer.challengeNonce)).body.phase).toBe('expired')
  })

  it('no word of a seller changes that, for a burn mined in time either', async () => {
    const offer = await net.challenge()
    const hash = await net.transfer(payer, offer.payTo, offer.amount)
    const { paymentRequirements: told, ...body } = paidBy(offer, hash)
    const extra = { ...told.extra, presentedAt: offer.expiresAt - 1 }
    net.clock.advance(301_000)
    await expectRefused({ ...body, paymentRequirements: { ...told, extra } }, 'challenge_expired', hash)
  })

  it('an unknown hash and a permit are refused without one', async () => {
    const offer = await net.challenge()
    const permit = bodyOf(offer, await net.permitFor(offer, payer))
    net.clock.advance(301_000)
    await expectRefused(paidBy(offer, `0x${'cd'.repeat(32)}`), 'challenge_expired', '')
    await expectRefused(permit, 'challenge_expired', '')
  })

  it('the challenge is known for the retention and forgotten after it', async () => {
    const offer = await net.challenge()
    const body = paidBy(offer, `0x${'cd'.repeat(32)}`)
    net.clock.advance(270_000)
    expect((await net.status(offer.challengeNonce)).body.phase).toBe('open')
    net.clock.advance(31_000)
    expect((await net.status(offer.challengeNonce)).body.phase).toBe('expired')
    net.clock.advance(3_570_000)
    await expectRefused(body, 'challenge_expired', '')
    net.clock.advance(31_000)
    await expectRefused(body, 'unknown_challenge', '')
    expect((await net.status(offer.challengeNonce)).status).toBe(404)
  })
})
