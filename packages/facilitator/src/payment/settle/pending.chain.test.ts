import { permitBurnerAbi, tokenAbi } from '@svc-zerc20/contracts'
import { developmentRoles } from '@svc-zerc20/devnet'
import { encodeFunctionData, type Hex, parseGwei, toEventSelector } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { until } from '../../../../../test/support/until.js'
import { startNetwork, type TestNetwork } from '../../../test/network.js'
import { bodyOf, burnRequestOf } from '../../../test/payment.js'
import { limits } from '../../config/limits.js'

let net: TestNetwork
let payer: PrivateKeyAccount
let stranger: PrivateKeyAccount
beforeAll(async () => {
  net = await startNetwork({ config: { settlement: { receipt_poll_ms: 100 } } })
  stranger = await net.account({ gas: true })
})
beforeEach(async () => {
  payer = await net.account({ gas: true })
})
afterEach(async () => {
  net.chain.setFaults([])
  await net.chain.resumeMining()
})
afterAll(() => net.close())

const phase = async (nonce: string) => (await net.status(nonce)).body.phase

/** Sends the same payload until the answer is another one than pending. */
const untilEnded = (body: object) =>
  until(async () => {
    const { body: answer } = await net.settle(body)
    return answer.errorReason === 'pending_burn' ? undefined : answer
  })

/** A payment whose burn is broadcast and not mined. */
async function pendingPayment() {
  const payment = await net.permitPayment(payer)
  await net.chain.pauseMining()
  // On a busy machine the bound may pass before the burn is signed: then there is no hash to tell yet.
  const hash = await until(async () => {
    const { status, body } = await net.settle(payment.body)
    expect([status, body.success, body.errorReason]).toEqual([200, false, 'pending_burn'])
    return body.transaction === '' ? undefined : body.transaction
  })
  expect(hash).toMatch(/^0x[0-9a-f]{64}$/)
  return { ...payment, hash: hash as Hex }
}

describe('pending_burn', () => {
  it('R-113 R-154 R-131 comes after the bounded poll; the challenge stays open and the same payload then succeeds', async () => {
    const { offer, body, hash } = await pendingPayment()
    expect(await phase(offer.challengeNonce)).toBe('open')
    expect((await net.verify(body)).body.isValid).toBe(true)
    const again = (await net.settle(body)).body
    expect([again.errorReason, again.transaction]).toEqual(['pending_burn', hash])
    await net.chain.resumeMining()
    const answer = await untilEnded(body)
    expect(answer).toMatchObject({ success: true, transaction: hash })
    expect(await net.burnsOf(offer.challengeNonce)).toHaveLength(1)
  })

  it('R-113 a burn confirmed in the background, before anybody asks again, still gets its success', async () => {
    const { offer, body, hash } = await pendingPayment()
    await net.chain.resumeMining()
    await until(async () => (await phase(offer.challengeNonce)) === 'accepted')
    expect((await net.settle(body)).body).toMatchObject({ success: true, transaction: hash })
    expect((await net.settle(body)).body.errorReason).toBe('already_accepted')
  })

  it('R-113 outlives the expiry of the challenge: it was presented in time', async () => {
    const { offer, body, hash } = await pendingPayment()
    net.clock.advance((offer.expiresAt + 60) * 1000 - net.clock.now())
    expect(await phase(offer.challengeNonce)).toBe('open')
    await net.chain.resumeMining()
    await until(async () => (await phase(offer.challengeNonce)) === 'accepted')
    expect((await net.settle(body)).body).toMatchObject({ success: true, transaction: hash })
  })

  it('another payload for the same challenge is challenge_claimed meanwhile, with the hash of the burn', async () => {
    const { offer, hash } = await pendingPayment()
    const other = await net.permitFor(offer, stranger)
    expect((await net.settle(other)).body).toMatchObject({
      errorReason: 'challenge_claimed',
      transaction: hash,
    })
  })

  it('a payer that signed its permit again is answered for the burn that its first payload began', async () => {
    const { offer, payload, hash } = await pendingPayment()
    const again = bodyOf(
      offer,
      await net.permitFor(offer, payer, { nonce: BigInt(payload.permit.nonce) + 1n }),
    )
    expect((await net.settle(again)).body).toMatchObject({ errorReason: 'pending_burn', transaction: hash })
    await net.chain.resumeMining()
    expect(await untilEnded(again)).toMatchObject({ success: true, transaction: hash })
    expect(await net.burnsOf(offer.challengeNonce)).toHaveLength(1)
  })

  it('a second challenge with the same permit nonce is permit_nonce_in_use meanwhile', async () => {
    const { payload } = await pendingPayment()
    const second = await net.permitPayment(payer, '1000', { nonce: BigInt(payload.permit.nonce) })
    expect((await net.settle(second.body)).body).toMatchObject({
      success: false,
      errorReason: 'permit_nonce_in_use',
      transaction: '',
    })
  })

  it('R-132 a stranger who takes the burn from the mempool and is mined first changes nothing: one burn, accepted', async () => {
    const { offer, payload, body } = await pendingPayment()
    const data = encodeFunctionData({
      abi: permitBurnerAbi,
      functionName: 'burn',
      args: [burnRequestOf(offer, payload)],
    })
    const stolen = await net.walletOf(stranger).sendTransaction({
      to: net.deployment.permitBurner,
      data,
      gas: 500_000n,
      maxFeePerGas: parseGwei('900'),
      maxPriorityFeePerGas: parseGwei('900'),
    })
    await net.chain.resumeMining()
    await until(async () => (await phase(offer.challengeNonce)) === 'accepted')
    expect((await net.settle(body)).body).toMatchObject({ success: true, transaction: stolen })
    expect(await net.burnsOf(offer.challengeNonce)).toHaveLength(1)
    expect(await net.balanceOf(offer.payTo)).toBe(1000n)
    const receipts = await net.relayerReceipts()
    expect(receipts.filter(({ status }) => status !== 'success')).toEqual([])
  })

  it('R-130 a payer who is mined emptying the account first gets insufficient_funds, once, and may pay again after a wait', async () => {
    const { offer, body } = await pendingPayment()
    await net.walletOf(payer).sendTransaction({
      to: net.deployment.token,
      data: encodeFunctionData({
        abi: tokenAbi,
        functionName: 'transfer',
        args: [stranger.address, await net.balanceOf(payer.address)],
      }),
      gas: 200_000n,
      maxFeePerGas: parseGwei('900'),
      maxPriorityFeePerGas: parseGwei('900'),
    })
    await net.chain.resumeMining()
    await until(() =>
      net.events.some(
        (event) =>
          event.event === 'burn.failed' &&
          event.challengeNonce === offer.challengeNonce &&
          event.reason === 'insufficient_funds',
      ),
    )
    expect((await net.settle(body)).body.errorReason).toBe('payer_must_wait')
    net.clock.advance(limits.payerWaitFirstMs)
    expect((await net.settle(body)).body.errorReason).toBe('insufficient_funds')
    await net.faucet.mintTokens(payer.address, 1000n)
    const answer = await untilEnded(body)
    expect(answer.success).toBe(true)
    expect(await net.burnsOf(offer.challengeNonce)).toHaveLength(1)
  })
})

describe('a node that tells nonsense about the mined burn', () => {
  const receipt = (fields: object) => ({
    method: 'eth_getTransactionReceipt',
    kind: 'result' as const,
    // A receipt that is not of the head is asked for a second time, together with the head.
    times: 2,
    value: {
      transactionHash: `0x${'ab'.repeat(32)}`,
      blockNumber: '0x1',
      blockHash: `0x${'cd'.repeat(32)}`,
      ...fields,
    },
  })

  it('a log that cannot be read is no verdict: the burn is looked up on chain and accepted, once', async () => {
    const { offer, body } = await net.permitPayment(payer)
    const topics = [toEventSelector('BurnFailed(bytes32,bytes)'), offer.challengeNonce]
    const logs = [{ address: net.deployment.permitBurner, topics, data: '0x' }]
    net.chain.setFaults([receipt({ status: '0x1', logs })])
    const answer = await untilEnded(body)
    const [burn, ...more] = await net.burnsOf(offer.challengeNonce)
    expect(answer).toMatchObject({ success: true, transaction: burn?.transactionHash })
    expect(more).toEqual([])
    expect(await net.balanceOf(offer.payTo)).toBe(1000n)
  })

  it('a receipt that claims a revert gives burn_failed; the truth is found when the payload comes again', async () => {
    // With a bound that the machine cannot use up, so that the caller surely hears how the burn ended.
    const patient = await startNetwork()
    try {
      const { offer, body } = await patient.permitPayment(await patient.account())
      patient.chain.setFaults([receipt({ status: '0x0', logs: [] })])
      expect((await patient.settle(body)).body).toMatchObject({ success: false, errorReason: 'burn_failed' })
      await until(async () => (await patient.burnsOf(offer.challengeNonce)).length === 1)
      // The relayer's own watch may be looking at the burn at this very moment: then it is pending once more.
      await until(async () => (await patient.settle(body)).body.success)
      expect(await patient.burnsOf(offer.challengeNonce)).toHaveLength(1)
    } finally {
      await patient.close()
    }
  })
})

describe('chain time near the deadline', () => {
  const relayer = developmentRoles.relayer.address
  beforeEach(async () => {
    const { timestamp } = await net.client.getBlock()
    net.clock.advance(Math.max(0, Number(timestamp) * 1000 - net.clock.now()))
  })
  const failedFor = (nonce: string, reason: string) => () =>
    net.events.some(
      (event) => event.event === 'burn.failed' && event.challengeNonce === nonce && event.reason === reason,
    )
  /** Makes a block so many seconds before a time. */
  const goBefore = async (second: number, seconds: number) => {
    const { timestamp } = await net.client.getBlock()
    await net.chain.increaseTime(second - seconds - Number(timestamp))
    await net.faucet.mintTokens(net.deployment.token, 1n)
  }

  it('an offer that is paid in its last second is burned after it, and accepted', async () => {
    const { offer, body } = await net.permitPayment(await net.account())
    await goBefore(offer.expiresAt, 1)
    net.clock.advance((offer.expiresAt - 1) * 1000 - net.clock.now())
    await net.chain.pauseMining()
    expect((await net.settle(body)).body.errorReason).toBe('pending_burn')
    await net.chain.increaseTime(60)
    await net.chain.resumeMining()
    expect((await untilEnded(body)).success).toBe(true)
  })

  it('a permit that could only be mined behind its deadline is not taken, and costs nothing', async () => {
    const payments = await net.permitPayments(
      await Promise.all(Array.from({ length: 5 }, () => net.account())),
    )
    const [first] = payments
    if (!first) throw new Error('no payment')
    await goBefore(first.offer.deadline ?? 0, limits.miningSeconds - 1)
    const sent = await net.client.getTransactionCount({ address: relayer })
    for (const { body } of payments) {
      expect((await net.verify(body)).body.invalidReason).toBe('deadline_passed')
      expect((await net.settle(body)).body.errorReason).toBe('deadline_passed')
    }
    expect(await net.client.getTransactionCount({ address: relayer })).toBe(sent)
  })

  it('R-038 a burn that waited too long is refused by the chain, nothing is taken, and its payer need not wait', async () => {
    const { offer, body } = await pendingPayment()
    await net.chain.increaseTime(10_000_000)
    await net.chain.resumeMining()
    await until(failedFor(offer.challengeNonce, 'deadline_passed'))
    expect(await net.balanceOf(offer.payTo)).toBe(0n)
    expect((await net.status(offer.challengeNonce)).body).not.toHaveProperty('transaction')
    // By our own clock the challenge is still open.
    expect((await net.verify(body)).body.invalidReason).toBe('deadline_passed')
    expect((await net.settle(body)).body.errorReason).toBe('deadline_passed')
    // Another offer, made by the chain's time, is taken from the same payer at once.
    const { timestamp } = await net.client.getBlock()
    net.clock.advance(Number(timestamp) * 1000 - net.clock.now())
    expect((await net.verify((await net.permitPayment(payer)).body)).body).toMatchObject({ isValid: true })
  })

  it('burns that are past it are not sent again: their transaction gives way to an empty one', async () => {
    const { offer } = await pendingPayment()
    // By more than our clock may be ahead of the chain's.
    net.clock.advance(((offer.deadline ?? 0) + 61) * 1000 - net.clock.now())
    const before = (await net.relayerReceipts()).length
    const givenUp = await until(() => net.events.find((told) => told.event === 'relayer.given_up'))
    const { txHash } = givenUp as { txHash: Hex }
    await until(() => net.client.getTransaction({ hash: txHash }).catch(() => undefined))
    await net.chain.increaseTime(10_000_000)
    await net.chain.resumeMining()
    await until(failedFor(offer.challengeNonce, 'deadline_passed'))
    const [empty, ...others] = (await net.relayerReceipts()).slice(before)
    expect(others).toEqual([])
    expect(empty?.gasUsed).toBe(21_000n)
  })
})
