import { tokenAbi } from '@svc-zerc20/contracts'
import type { ChallengeNonce } from '@svc-zerc20/protocol'
import { systemClock } from '@svc-zerc20/protocol/system-clock'
import { createWalletClient, type Hex, http, parseGwei } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { callsDuring, startNetwork, type TestNetwork } from '../../test/network.js'
import { address, offerAt, randomHex } from '../../test/offers.js'
import { policyOf, readEnvironment } from '../environment/variables.js'
import { createPayerScheme, type PayerError, type PayerOptions } from '../index.js'
import { defaultLimits } from '../limits.js'
import { assemblePayer } from '../payer/assemble-payer.js'
import { createMemoryState } from '../state/open-state.js'
import type { PaymentMemory } from '../state/payments.js'

let net: TestNetwork
beforeAll(async () => {
  net = await startNetwork()
})
afterEach(async () => {
  net.chain.setFaults([])
  await net.chain.dropPending()
  await net.chain.resumeMining()
})
afterAll(() => net.close())

const createPayer = ({ limits, ...options }: Partial<PayerOptions> = {}) =>
  createPayerScheme({
    account: net.payer,
    rpcUrl: net.rpcUrl,
    network: net.network,
    allowedTokens: 'any',
    maxAmountPerPayment: 'unlimited',
    mode: 'self-transfer',
    limits: { receiptPollMs: 5, ...limits },
    ...options,
  })
const impatient = { limits: { receiptWaitMsMax: 50 } }
const newOffer = (extra: object = {}) =>
  offerAt(Math.floor(Date.now() / 1_000), {
    asset: net.token,
    payTo: randomHex(20),
    extra: { challengeNonce: randomHex(32), ...extra },
  })
const failure = (payment: Promise<unknown>): Promise<PayerError> =>
  payment.then(
    () => expect.fail('it should have failed'),
    (error) => error,
  )

/** Resolves once the transfer waits in the node's pool. */
async function waitForPool(): Promise<'waiting'> {
  const mined = await net.client.getTransactionCount({ address: net.payer.address })
  while ((await net.sentBy(net.payer.address)) === mined) await new Promise(setImmediate)
  return 'waiting'
}

describe('self-transfer mode', () => {
  it('R-029 burns the exact amount at payTo and waits for the receipt before the payload exists', async () => {
    const offer = newOffer()
    await net.chain.pauseMining()
    const payment = createPayer().createPaymentPayload(2, offer)
    expect(await Promise.race([payment, waitForPool()])).toBe('waiting')
    await net.chain.mine()
    const { payload } = await payment
    expect(Object.keys(payload).sort()).toEqual(['burnTxHash', 'challengeNonce'])
    expect(payload.challengeNonce).toBe(offer.extra.challengeNonce)
    const receipt = await net.client.getTransactionReceipt({ hash: payload.burnTxHash as Hex })
    expect(receipt.status).toBe('success')
    expect(await net.balanceOf(offer.payTo as Hex)).toBe(1000n)
  })

  it('R-029 burns once for one challenge, however often and at once it is asked', async () => {
    const payer = createPayer()
    const offer = newOffer()
    const before = await net.sentBy(net.payer.address)
    const payments = await Promise.all(Array.from({ length: 6 }, () => payer.createPaymentPayload(2, offer)))
    payments.push(await payer.createPaymentPayload(2, offer))
    expect(new Set(payments.map(({ payload }) => payload.burnTxHash)).size).toBe(1)
    expect(await net.sentBy(net.payer.address)).toBe(before + 1)
  })

  it('R-029 burns once for one challenge that two processes are offered', async () => {
    const state = createMemoryState({ clock: systemClock, limits: defaultLimits })
    const processWith = (memory: PaymentMemory) =>
      assemblePayer({
        account: net.payer,
        rpcUrl: net.rpcUrl,
        mode: 'self-transfer',
        fallback: undefined,
        policy: { ...policyOf(readEnvironment({}).settings), allowedHosts: 'any' },
        state: { ...state, memory },
        approver: undefined,
        fetch,
        clock: systemClock,
        limits: defaultLimits,
      }).scheme
    const offer = newOffer()
    const before = await net.sentBy(net.payer.address)
    // The second process looked before the first one had signed, and goes on after it.
    const looked = { ...state.memory, get: async () => undefined }
    const first = await processWith(state.memory).createPaymentPayload(2, offer)
    const second = await processWith(looked).createPaymentPayload(2, offer)
    expect(second.payload.burnTxHash).toBe(first.payload.burnTxHash)
    expect(await net.sentBy(net.payer.address)).toBe(before + 1)
    expect(await net.balanceOf(offer.payTo as Hex)).toBe(1000n)
  })

  it('pays several challenges at once without a clash of account nonces', async () => {
    const payer = createPayer()
    const offers = Array.from({ length: 5 }, () => newOffer())
    await Promise.all(offers.map((offer) => payer.createPaymentPayload(2, offer)))
    for (const { payTo } of offers) expect(await net.balanceOf(payTo as Hex)).toBe(1000n)
  })

  it('R-030 a reverted burn is an error with the hash, pending until no reorg can undo it, and stays one', async () => {
    const payer = createPayer()
    const offer = { ...newOffer(), amount: `${await net.balanceOf(net.payer.address)}` }
    const token = { chain: null, address: net.token, abi: tokenAbi } as const
    const asPayer = createWalletClient({ account: net.payer, transport: http(net.rpcUrl) })
    await asPayer.writeContract({ ...token, functionName: 'approve', args: [net.relayer.address, 1n] })
    await net.chain.pauseMining()
    const sent = await net.sentBy(net.payer.address)
    const payment = failure(payer.createPaymentPayload(2, offer))
    await waitForPool()
    // A higher tip puts this in front: the transfer was fine when it was sent and reverts when it is mined.
    await createWalletClient({ account: net.relayer, transport: http(net.rpcUrl) }).writeContract({
      ...token,
      functionName: 'transferFrom',
      args: [net.payer.address, address(77), 1n],
      gas: 200_000n,
      maxPriorityFeePerGas: parseGwei('50'),
      maxFeePerGas: parseGwei('100'),
    })
    await net.chain.mine()
    const error = await payment
    expect(error).toMatchObject({ name: 'PayerError', code: 'burn_unconfirmed' })
    expect(error.detail).toContain('it reverted')
    const receipt = await net.client.getTransactionReceipt({ hash: error.burnTxHash as Hex })
    expect(receipt.status).toBe('reverted')
    expect(error.message).toContain(error.burnTxHash)
    const again = await failure(payer.createPaymentPayload(2, offer))
    expect([again.code, again.burnTxHash]).toEqual(['burn_unconfirmed', error.burnTxHash])
    await net.chain.mine(defaultLimits.settledBlocks)
    const deep = await failure(payer.createPaymentPayload(2, offer))
    expect([deep.code, deep.burnTxHash]).toEqual(['burn_reverted', error.burnTxHash])
    expect(await net.sentBy(net.payer.address)).toBe(sent + 1)
  })

  it('R-030 an unconfirmed burn is an error with the hash; asked again it is awaited, not repeated', async () => {
    const payer = createPayer(impatient)
    const offer = newOffer()
    await net.chain.pauseMining()
    const error = await failure(payer.createPaymentPayload(2, offer))
    expect(error).toMatchObject({ code: 'burn_unconfirmed' })
    expect(error.message).toContain('do not pay a second time')
    const sent = await net.sentBy(net.payer.address)
    expect((await failure(payer.createPaymentPayload(2, offer))).burnTxHash).toBe(error.burnTxHash)
    await net.chain.mine()
    const { payload } = await payer.createPaymentPayload(2, offer)
    expect(payload.burnTxHash).toBe(error.burnTxHash)
    expect(await net.sentBy(net.payer.address)).toBe(sent)
    expect(await net.balanceOf(offer.payTo as Hex)).toBe(1000n)
  })

  it('R-030 a burn whose receipt the node removed before it was seen is presented all the same', async () => {
    const payer = createPayer(impatient)
    const offer = newOffer()
    net.chain.setFaults([{ method: 'eth_getTransactionReceipt', kind: 'result', value: null }])
    const { code, burnTxHash } = await failure(payer.createPaymentPayload(2, offer))
    expect(code).toBe('burn_unconfirmed')
    expect((await payer.createPaymentPayload(2, offer)).payload).toMatchObject({ burnTxHash })
  })

  it('R-030 a txNonce that could not be noted at first is noted by the next try', async () => {
    const state = createMemoryState({ clock: systemClock, limits: defaultLimits })
    let fails = true
    const totals: typeof state.totals = {
      ...state.totals,
      noteTxNonce: async (...given) => {
        if (fails) throw new Error('the disk is full')
        await state.totals.noteTxNonce(...given)
      },
    }
    const { scheme } = assemblePayer({
      account: net.payer,
      rpcUrl: net.rpcUrl,
      mode: 'self-transfer',
      fallback: undefined,
      policy: { ...policyOf(readEnvironment({}).settings), allowedHosts: 'any' },
      state: { ...state, totals },
      approver: undefined,
      fetch,
      clock: systemClock,
      limits: defaultLimits,
    })
    const offer = newOffer()
    const { code, burnTxHash } = await failure(scheme.createPaymentPayload(2, offer))
    expect([code, burnTxHash]).toEqual(['payment_pending', expect.stringMatching(/^0x/)])
    fails = false
    expect((await scheme.createPaymentPayload(2, offer)).payload).toMatchObject({ burnTxHash })
    const reservation = await state.totals.reservation(offer.extra.challengeNonce as ChallengeNonce)
    expect(reservation?.txNonce).toBeTypeOf('number')
  })

  it('R-030 waits no longer than the offer lives, and still finds the burn afterwards', async () => {
    let skewMs = 0
    const clock = {
      now: () => Date.now() + skewMs,
      sleep: async () => {
        skewMs += 60_000
      },
    }
    const payer = createPayer({ clock, limits: { receiptWaitMsMax: 3_600_000 } })
    const offer = newOffer()
    await net.chain.pauseMining()
    expect((await failure(payer.createPaymentPayload(2, offer))).code).toBe('burn_unconfirmed')
    expect(skewMs).toBeLessThanOrEqual(300_000)
    await net.chain.mine()
    await expect(payer.createPaymentPayload(2, offer)).resolves.toHaveProperty('payload.burnTxHash')
  })

  it('gives no burn up on the word of a node that fails, or has no later block', async () => {
    let aheadMs = 0
    const clock = { ...systemClock, now: () => Date.now() + aheadMs }
    const payer = createPayer({ clock, ...impatient })
    const offer = newOffer()
    await net.chain.pauseMining()
    const { burnTxHash } = await failure(payer.createPaymentPayload(2, offer))
    aheadMs = 600_000
    expect(await failure(payer.createPaymentPayload(2, offer))).toMatchObject({ code: 'burn_unconfirmed' })
    await net.chain.mine()
    net.chain.setFaults([{ method: 'eth_getTransactionReceipt', kind: 'error' }])
    expect(await failure(payer.createPaymentPayload(2, offer))).toMatchObject({ code: 'burn_unconfirmed' })
    net.chain.setFaults([])
    expect((await payer.createPaymentPayload(2, offer)).payload).toMatchObject({ burnTxHash })
  })

  it('survives an answer lost after the node took the transfer', async () => {
    const offer = newOffer()
    const sent = await net.sentBy(net.payer.address)
    net.chain.setFaults([{ method: 'eth_sendRawTransaction', kind: 'dropResponse', times: 1 }])
    await expect(createPayer().createPaymentPayload(2, offer)).resolves.toHaveProperty('payload.burnTxHash')
    expect(await net.sentBy(net.payer.address)).toBe(sent + 1)
  })

  it('sends the very same bytes again when the node never got them', async () => {
    const payer = createPayer(impatient)
    const offer = newOffer()
    const sent = await net.sentBy(net.payer.address)
    await net.chain.pauseMining()
    net.chain.setFaults([{ method: 'eth_sendRawTransaction', kind: 'dropResponse', executed: false }])
    const error = await failure(payer.createPaymentPayload(2, offer))
    expect([error.code, await net.sentBy(net.payer.address)]).toEqual(['burn_unconfirmed', sent])
    net.chain.setFaults([])
    expect((await failure(payer.createPaymentPayload(2, offer))).burnTxHash).toBe(error.burnTxHash)
    expect(await net.sentBy(net.payer.address)).toBe(sent + 1)
    await net.chain.mine()
    const { payload } = await payer.createPaymentPayload(2, offer)
    expect(payload.burnTxHash).toBe(error.burnTxHash)
  })

  it('waits on while the node fails to answer for the receipt', async () => {
    net.chain.setFaults([{ method: 'eth_getTransactionReceipt', kind: 'error', times: 3 }])
    await expect(createPayer().createPaymentPayload(2, newOffer())).resolves.toHaveProperty(
      'payload.burnTxHash',
    )
  })

  it('sends nothing when the transfer would fail, and can be asked again', async () => {
    const payer = createPayer({ account: net.pauper })
    const offer = newOffer()
    const seen = await callsDuring(net.chain, async () => {
      const error = await failure(payer.createPaymentPayload(2, offer))
      expect(error).toMatchObject({ code: 'no_tokens', burnTxHash: undefined })
    })
    expect(seen.calls).not.toHaveProperty('eth_sendRawTransaction')
    await createWalletClient({ account: net.payer, transport: http(net.rpcUrl) }).writeContract({
      chain: null,
      address: net.token,
      abi: tokenAbi,
      functionName: 'transfer',
      args: [net.pauper.address, 1000n],
    })
    await expect(payer.createPaymentPayload(2, offer)).resolves.toHaveProperty('payload.burnTxHash')
  })

  it('tells no gas money, a dead endpoint and a refusing token apart, and sends nothing', async () => {
    const penniless = privateKeyToAccount(generatePrivateKey())
    await net.mined(
      await createWalletClient({ account: net.payer, transport: http(net.rpcUrl) }).writeContract({
        chain: null,
        address: net.token,
        abi: tokenAbi,
        functionName: 'transfer',
        args: [penniless.address, 1000n],
      }),
    )
    // Holds everything by its own word and reverts on `transfer`.
    const stuck = await net.deployRuntime('0x5f3560e01c63a9059cbb146016575f195f5260205ff35b5f5ffd')
    const refusals = [
      failure(createPayer({ account: penniless }).createPaymentPayload(2, newOffer())),
      failure(createPayer({ rpcUrl: 'http://127.0.0.1:1' }).createPaymentPayload(2, newOffer())),
      failure(createPayer().createPaymentPayload(2, { ...newOffer(), asset: stuck })),
    ]
    const errors = await Promise.all(refusals)
    expect(errors.map(({ code }) => code)).toEqual(['no_gas', 'chain_unavailable', 'transfer_reverts'])
    expect(errors.map(({ burnTxHash }) => burnTxHash)).toEqual([undefined, undefined, undefined])
    expect(errors[0]?.message).toContain('Fund the account with native money')
  })

  it('keeps to the bytes that a node refused, whatever the node said of them', async () => {
    const payer = createPayer()
    const offer = newOffer()
    const sent = await net.sentBy(net.payer.address)
    const message = 'transaction type not supported'
    const refusal = { kind: 'error', code: -32_000, message, executed: false } as const
    net.chain.setFaults([{ method: 'eth_sendRawTransaction', ...refusal }])
    const error = await failure(payer.createPaymentPayload(2, offer))
    expect(error).toMatchObject({ code: 'burn_unconfirmed', burnTxHash: expect.any(String) })
    expect(error.message).toContain(message)
    expect(error.message).not.toContain(net.rpcUrl)
    net.chain.setFaults([])
    const { payload } = await payer.createPaymentPayload(2, offer)
    expect(payload.burnTxHash).toBe(error.burnTxHash)
    expect(await net.sentBy(net.payer.address)).toBe(sent + 1)
  })

  it('signs nothing whose gas may cost more than one payment may', async () => {
    const seen = await callsDuring(net.chain, async () => {
      const error = await failure(createPayer({ maxGasWei: '1000' }).createPaymentPayload(2, newOffer()))
      expect(error).toMatchObject({ code: 'gas_exceeded', burnTxHash: undefined })
      // A node that names an absurd price, with the limit that nobody set.
      net.chain.setFaults([
        { method: 'eth_maxPriorityFeePerGas', kind: 'result', value: '0x38d7ea4c68000' }, // 0.001 ether
      ])
      expect(await failure(createPayer().createPaymentPayload(2, newOffer()))).toMatchObject({
        code: 'gas_exceeded',
      })
    })
    expect(seen.calls).not.toHaveProperty('eth_sendRawTransaction')
  })

  it.each([
    'already known',
    'nonce too low: next nonce 5, tx nonce 4',
    'AlreadyKnown',
    'OldNonce',
    'request timed out',
  ])(
    'one node says "%s", another does not show the transfer yet: it is awaited, and never signed again',
    async (message) => {
      const payer = createPayer(impatient)
      const offer = newOffer()
      const sent = await net.sentBy(net.payer.address)
      await net.chain.pauseMining()
      net.chain.setFaults([
        { method: 'eth_sendRawTransaction', kind: 'error', code: -32_000, message, executed: true },
        { method: 'eth_getTransactionByHash', kind: 'result', value: null },
      ])
      const error = await failure(payer.createPaymentPayload(2, offer))
      expect(error).toMatchObject({ code: 'burn_unconfirmed', burnTxHash: expect.any(String) })
      net.chain.setFaults([])
      await net.chain.resumeMining()
      const { payload } = await payer.createPaymentPayload(2, offer)
      expect(payload.burnTxHash).toBe(error.burnTxHash)
      expect(await net.sentBy(net.payer.address)).toBe(sent + 1)
    },
  )

  it('sends no transfer for which an unreasonable amount of gas is estimated', async () => {
    net.chain.setFaults([{ method: 'eth_estimateGas', kind: 'result', value: '0x1c9c380' }])
    const seen = await callsDuring(net.chain, async () => {
      const error = await failure(createPayer().createPaymentPayload(2, newOffer()))
      expect(error).toMatchObject({ code: 'transfer_refused', burnTxHash: undefined })
      expect(error.message).toContain('30000000 gas')
    })
    expect(seen.calls).not.toHaveProperty('eth_sendRawTransaction')
  })

  it('R-018 does not begin a burn that would come too late', async () => {
    const soon = newOffer({ expiresAt: Math.floor(Date.now() / 1_000) + 3 })
    const sent = await net.sentBy(net.payer.address)
    expect((await failure(createPayer().createPaymentPayload(2, soon))).code).toBe('offer_expired')
    expect(await net.sentBy(net.payer.address)).toBe(sent)
  })
})
