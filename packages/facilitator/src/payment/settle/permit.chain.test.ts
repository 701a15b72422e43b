import { permitBurnerAbi, tokenAbi } from '@svc-zerc20/contracts'
import { developmentRoles, minedReceipt } from '@svc-zerc20/devnet'
import { encodeFunctionData, type Hex, zeroAddress } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startNetwork, type TestNetwork } from '../../../test/network.js'
import {
  bodyOf,
  burnRequestOf,
  joinSignature,
  mirrored,
  type PermitChanges,
  type PermitPayload,
  splitSignature,
} from '../../../test/payment.js'

let net: TestNetwork
let payer: PrivateKeyAccount
let stranger: PrivateKeyAccount
beforeAll(async () => {
  net = await startNetwork()
  payer = await net.account()
  stranger = await net.account({ gas: true })
})
afterAll(() => net.close())

const relayer = developmentRoles.relayer.address

/** Verify and settle agree on why this payment is refused, and nothing of it reaches the chain. */
async function expectRefused(body: object, reason: string): Promise<void> {
  const sent = await net.client.getTransactionCount({ address: relayer })
  const verified = await net.verify(body)
  expect([verified.status, verified.body.isValid, verified.body.invalidReason]).toEqual([200, false, reason])
  const settled = await net.settle(body)
  expect(settled.status).toBe(200)
  expect(settled.body).toMatchObject({
    success: false,
    errorReason: reason,
    transaction: '',
    network: 'eip155:31337',
  })
  expect(settled.body.errorMessage).not.toBe('')
  expect(await net.client.getTransactionCount({ address: relayer })).toBe(sent)
}

const refusedWith = async (changes: PermitChanges, reason: string) =>
  expectRefused((await net.permitPayment(payer, '1000', changes)).body, reason)

/** The same payment with its payload changed. */
async function changed(change: (payload: PermitPayload) => object): Promise<object> {
  const { offer, payload } = await net.permitPayment(payer)
  return bodyOf(offer, change(payload))
}

describe('a good permit', () => {
  it('R-112 R-122 R-042 R-006 is accepted: success, phase accepted, and the hash of the burn', async () => {
    const { offer, body } = await net.permitPayment(payer)
    const { status, body: answer } = await net.settle(body)
    expect(status).toBe(200)
    expect(answer).toEqual({
      success: true,
      transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      network: 'eip155:31337',
      payer: payer.address.toLowerCase(),
      extra: { phase: 'accepted' },
    })
    const receipt = await net.client.getTransactionReceipt({ hash: answer.transaction as Hex })
    expect(receipt.status).toBe('success')
    expect((await net.burnsOf(offer.challengeNonce)).map(({ transactionHash }) => transactionHash)).toEqual([
      answer.transaction,
    ])
    expect(await net.balanceOf(offer.payTo)).toBe(1000n)
  })

  it('R-121 R-041 is valid for verify, which names the payer', async () => {
    const { body } = await net.permitPayment(payer)
    const { status, body: answer } = await net.verify(body)
    expect([status, answer]).toEqual([200, { isValid: true, payer: payer.address.toLowerCase() }])
  })

  it('R-028 R-131 is broadcast inside settle by the relayer, which pays the gas; the payer only signs', async () => {
    const { body } = await net.permitPayment(payer)
    const wei = await net.client.getBalance({ address: relayer })
    const { transaction } = (await net.settle(body)).body
    const { from } = await net.client.getTransactionReceipt({ hash: transaction as Hex })
    expect(from.toLowerCase()).toBe(relayer.toLowerCase())
    expect(await net.client.getBalance({ address: relayer })).toBeLessThan(wei)
    expect(await net.client.getTransactionCount({ address: payer.address })).toBe(0)
    expect(await net.client.getBalance({ address: payer.address })).toBe(0n)
  })

  it.each([0, 1])('R-024 counts with v of 27 or 28 and also written as 0 or 1 (%i)', async (form) => {
    const { offer, payload } = await net.permitPayment(payer)
    const bind = splitSignature(payload.burnAuthSig)
    const written = (v: number) => v - (form === 0 ? 0 : 27)
    const body = bodyOf(offer, {
      ...payload,
      permit: { ...payload.permit, v: written(payload.permit.v) },
      burnAuthSig: joinSignature({ ...bind, v: written(bind.v) }),
    })
    expect((await net.settle(body)).body.success).toBe(true)
  })

  it('R-127 R-172 counts in the legacy direct body too', async () => {
    const { offer, payload } = await net.permitPayment(payer)
    const { body } = await net.settle(payload)
    expect(body).toMatchObject({ success: true, extra: { phase: 'accepted' } })
    expect(await net.burnsOf(offer.challengeNonce)).toHaveLength(1)
  })

  it('R-171 counts whatever unknown keys stand beside the known ones, and addresses in any case', async () => {
    const { offer, payload } = await net.permitPayment(payer)
    const { permit } = payload
    const body = bodyOf(
      { ...offer, payTo: offer.payTo.toLowerCase() as Hex },
      {
        ...payload,
        payer: payload.payer.toUpperCase().replace('0X', '0x'),
        permit: { ...permit, later: 1 },
        note: [],
      },
      { later: { a: 1 }, extra: { challengeNonce: offer.challengeNonce, seal: 'x', fee: null } },
    )
    expect((await net.verify({ ...body, hint: true })).body).toMatchObject({ isValid: true })
    expect((await net.settle({ ...body, hint: true })).body.success).toBe(true)
  })

  it('works for an account with an EIP-7702 delegation: its own key still signs', async () => {
    const delegated = await net.account({ gas: true })
    const wallet = net.walletOf(delegated)
    const authorization = await wallet.signAuthorization({
      account: delegated,
      contractAddress: net.deployment.token,
      executor: 'self',
    })
    const hash = await wallet.sendTransaction({
      to: delegated.address,
      authorizationList: [authorization],
      gas: 100_000n,
    })
    await minedReceipt(net.client, hash)
    expect(await net.client.getCode({ address: delegated.address })).toMatch(/^0xef0100/)
    const { body } = await net.permitPayment(delegated)
    expect((await net.settle(body)).body.success).toBe(true)
  })
})

describe('what the permit says', () => {
  it('R-025 must carry the quoted amount exactly', async () => {
    await refusedWith({ value: 999n }, 'value_mismatch')
    await refusedWith({ value: 1001n }, 'value_mismatch')
  })

  it('R-038 must carry the deadline of the offer', async () => {
    const { deadline = 0 } = await net.challenge()
    await refusedWith({ deadline: BigInt(deadline) + 1000n }, 'deadline_mismatch')
    await refusedWith({ deadline: 0n }, 'deadline_mismatch')
  })

  it('R-035 R-129 must use the live permit nonce', async () => {
    const live = await net.permitNonce(payer.address)
    await refusedWith({ nonce: live + 1n }, 'permit_nonce_stale')
    await refusedWith({ nonce: live - 1n }, 'permit_nonce_stale')
  })

  it('R-129 must come from a payer who holds the amount', async () => {
    const poor = await net.account({ tokens: 999n })
    await expectRefused((await net.permitPayment(poor)).body, 'insufficient_funds')
  })

  it('R-026 must not name a contract as the payer', async () => {
    await refusedWith({ payer: net.deployment.token }, 'contract_payer')
  })
})

describe('the signatures', () => {
  const others: [string, PermitChanges][] = [
    ['another chain', { chainId: 1 }],
    ['another token', { token: '0x00000000000000000000000000000000000000aa' }],
    ['another token name', { tokenName: 'Other' }],
    ['a permit for another spender', { permitHelper: '0x00000000000000000000000000000000000000aa' }],
    ['another helper', { burnHelper: '0x00000000000000000000000000000000000000aa' }],
    ['another burn address', { payTo: '0x00000000000000000000000000000000000000aa' }],
    ['another challenge', { challengeNonce: `0x${'11'.repeat(32)}` }],
    ['another deadline of the burn', { burnDeadline: 1n }],
    ['the zero address', { payer: zeroAddress, nonce: 0n }],
  ]
  it.each(others)('R-035 R-036 R-037 R-153 are refused when made for %s', async (_name, changes) => {
    await refusedWith(changes, 'signer_mismatch')
  })

  it('R-037 R-153 must both recover to the payer: one of a stranger is refused', async () => {
    await refusedWith({ burnSigner: stranger }, 'signer_mismatch')
    const { offer, payload } = await net.permitPayment(payer)
    const foreign = await net.permitFor(offer, stranger)
    await expectRefused(bodyOf(offer, { ...payload, permit: foreign.permit }), 'signer_mismatch')
  })

  it('R-024 must have a low s: the mirrored signature is refused', async () => {
    const permit = await changed((payload) => ({
      ...payload,
      permit: { ...payload.permit, ...mirrored(payload.permit) },
    }))
    await expectRefused(permit, 'invalid_signature')
    const burn = await changed((payload) => ({
      ...payload,
      burnAuthSig: joinSignature(mirrored(splitSignature(payload.burnAuthSig))),
    }))
    await expectRefused(burn, 'invalid_signature')
  })

  it.each([2, 26, 29, 255])('R-024 must have a recovery id: v of %i is refused', async (v) => {
    const body = await changed((payload) => ({ ...payload, permit: { ...payload.permit, v } }))
    await expectRefused(body, 'invalid_signature')
  })

  it('R-024 must have r and s inside the group', async () => {
    for (const r of [`0x${'00'.repeat(32)}`, `0x${'ff'.repeat(32)}`]) {
      const body = await changed((payload) => ({ ...payload, permit: { ...payload.permit, r } }))
      await expectRefused(body, 'invalid_signature')
    }
  })
})

describe('the form of the payload', () => {
  const wrongForms: [string, (payload: PermitPayload) => object][] = [
    ['a burnAuthSig of 64 bytes', (p) => ({ ...p, burnAuthSig: p.burnAuthSig.slice(0, -2) })],
    ['a burnAuthSig of 66 bytes', (p) => ({ ...p, burnAuthSig: `${p.burnAuthSig}00` })],
    ['a v that is no byte', (p) => ({ ...p, permit: { ...p.permit, v: 256 } })],
    ['a v that is a string', (p) => ({ ...p, permit: { ...p.permit, v: '27' } })],
    ['a value that is a number', (p) => ({ ...p, permit: { ...p.permit, value: 1000 } })],
    ['a value with an exponent', (p) => ({ ...p, permit: { ...p.permit, value: '1e3' } })],
    ['a nonce in hex', (p) => ({ ...p, permit: { ...p.permit, nonce: '0x0' } })],
    ['a deadline with a leading zero', (p) => ({ ...p, permit: { ...p.permit, deadline: '01' } })],
    ['a short r', (p) => ({ ...p, permit: { ...p.permit, r: '0x00' } })],
    ['a payer of 19 bytes', (p) => ({ ...p, payer: p.payer.slice(0, -2) })],
    ['a challenge nonce of 31 bytes', (p) => ({ ...p, challengeNonce: p.challengeNonce.slice(0, -2) })],
    ['permit as an array', (p) => ({ ...p, permit: [] })],
  ]
  it.each(wrongForms)('R-024 is refused with %s', async (_name, change) => {
    await expectRefused(await changed(change), 'malformed_payload')
  })

  const triple = ['permit', 'payer', 'burnAuthSig'] as const
  it.each(triple)(
    'R-031 R-150 a triple without %s is malformed and never read as a self-transfer',
    async (missing) => {
      const { offer, payload } = await net.permitPayment(payer)
      const hash = await net.transfer(stranger, offer.payTo, offer.amount)
      const partial = { ...payload, [missing]: undefined, burnTxHash: hash }
      await expectRefused(bodyOf(offer, partial), 'malformed_payload')
      const legacy = await net.settle(partial)
      expect([legacy.status, legacy.body.errorReason]).toEqual([200, 'malformed_payload'])
      const single = { challengeNonce: offer.challengeNonce, [missing]: payload[missing], burnTxHash: hash }
      await expectRefused(bodyOf(offer, single), 'malformed_payload')
    },
  )
})

describe('rule 1: the requirements are untrusted', () => {
  const lies: [string, object][] = [
    ['network', { network: 'eip155:1' }],
    ['asset', { asset: '0x00000000000000000000000000000000000000aa' }],
    ['payTo', { payTo: '0x00000000000000000000000000000000000000aa' }],
    ['amount', { amount: '1' }],
    ['extra.challengeNonce', { extra: { challengeNonce: `0x${'11'.repeat(32)}` } }],
    ['extra', { extra: null }],
  ]
  it.each(lies)('R-128 R-152 another %s than issued is refused', async (field, lie) => {
    const { offer, payload } = await net.permitPayment(payer)
    const body = bodyOf(offer, payload, lie)
    await expectRefused(body, 'requirements_mismatch')
    const { errorMessage } = (await net.settle(body)).body
    expect(errorMessage).toContain(field === 'extra' ? 'extra.challengeNonce' : field)
  })

  it('R-128 the requirements of a cheap challenge do not carry the payload of another one', async () => {
    const dear = await net.permitPayment(payer, '5000')
    const cheap = await net.challenge('1')
    await expectRefused(bodyOf(cheap, dear.payload), 'requirements_mismatch')
  })

  it('R-009 a challenge that was never issued here is unknown, however well it is signed', async () => {
    const offer = { ...(await net.challenge()), challengeNonce: `0x${'5a'.repeat(32)}` as Hex }
    await expectRefused(bodyOf(offer, await net.permitFor(offer, payer)), 'unknown_challenge')
  })

  it('R-004 R-170 x402Version 1 is refused, in the envelope as in the payload', async () => {
    const { body } = await net.permitPayment(payer)
    await expectRefused({ ...body, x402Version: 1 }, 'invalid_x402_version')
    const older = { ...body, paymentPayload: { ...body.paymentPayload, x402Version: 1 } }
    await expectRefused(older, 'invalid_x402_version')
    await expectRefused({ ...body, x402Version: '2' }, 'invalid_x402_version')
  })

  it('R-004 a payment in the X-PAYMENT header is not looked at', async () => {
    const { body } = await net.permitPayment(payer)
    const header = Buffer.from(JSON.stringify(body.paymentPayload)).toString('base64')
    const answer = await net.post('/settle', {}, { 'x-payment': header })
    expect([answer.status, answer.body.errorReason]).toEqual([400, 'malformed_request'])
  })

  it('another scheme is refused', async () => {
    const { offer, payload } = await net.permitPayment(payer)
    await expectRefused(bodyOf(offer, payload, { scheme: 'exact' }), 'unsupported_scheme')
  })
})

describe('R-043 R-042 what PAYMENT-RESPONSE needs', () => {
  const wrong: [string, number, string | object][] = [
    ['broken JSON', 400, '{'],
    ['no request', 400, {}],
    ['too much', 413, { padding: 'x'.repeat(70_000) }],
    ['a partial triple', 200, { challengeNonce: `0x${'11'.repeat(32)}`, payer: '0x' }],
    [
      'an unknown challenge',
      200,
      { challengeNonce: `0x${'11'.repeat(32)}`, burnTxHash: `0x${'22'.repeat(32)}` },
    ],
  ]
  it.each(wrong)(
    'stands in the settle answer to %s too: success, transaction, network',
    async (_name, status, body) => {
      const answer = await net.settle(body)
      expect(answer.status).toBe(status)
      expect(answer.body).toMatchObject({ success: false, transaction: '', network: 'eip155:31337' })
      expect(answer.body.errorReason).toBeTypeOf('string')
    },
  )
})

describe('strangers and bad timing', () => {
  it('R-132 fault 15 a permit that a stranger submitted first still pays: the allowance is there', async () => {
    const { offer, payload, body } = await net.permitPayment(payer)
    const { value, deadline, v, r, s } = payload.permit
    const data = encodeFunctionData({
      abi: tokenAbi,
      functionName: 'permit',
      args: [payer.address, net.deployment.permitBurner, BigInt(value), BigInt(deadline), v, r, s],
    })
    expect((await net.transact(stranger, { to: net.deployment.token, data })).status).toBe('success')
    expect((await net.verify(body)).body.isValid).toBe(true)
    expect((await net.settle(body)).body.success).toBe(true)
    expect(await net.balanceOf(offer.payTo)).toBe(1000n)
  })

  it('R-132 fault 15 a burn that a stranger submitted first is found on chain and accepted, and not sent again', async () => {
    const { offer, payload, body } = await net.permitPayment(payer)
    const data = encodeFunctionData({
      abi: permitBurnerAbi,
      functionName: 'burn',
      args: [burnRequestOf(offer, payload)],
    })
    const burned = await net.transact(stranger, { to: net.deployment.permitBurner, data })
    expect(burned.status).toBe('success')
    const sent = await net.client.getTransactionCount({ address: relayer })
    expect((await net.verify(body)).body.isValid).toBe(true)
    expect((await net.settle(body)).body).toMatchObject({
      success: true,
      transaction: burned.transactionHash,
    })
    expect(await net.client.getTransactionCount({ address: relayer })).toBe(sent)
    expect(await net.balanceOf(offer.payTo)).toBe(1000n)
  })

  it('R-130 fault 16 a payer who drains the account after verify gets a named failure from settle', async () => {
    const owner = await net.account({ gas: true })
    const { offer, body } = await net.permitPayment(owner)
    expect((await net.verify(body)).body.isValid).toBe(true)
    await net.transfer(owner, stranger.address, await net.balanceOf(owner.address))
    const { body: answer } = await net.settle(body)
    expect(answer).toMatchObject({ success: false, errorReason: 'insufficient_funds' })
    expect((await net.status(offer.challengeNonce)).body.phase).toBe('open')
  })

  it('fault 14 two challenges with one permit nonce: one is paid, the other gets a named reason', async () => {
    const nonce = await net.permitNonce(payer.address)
    const payments = await Promise.all([
      net.permitPayment(payer, '700', { nonce }),
      net.permitPayment(payer, '800', { nonce }),
    ])
    const answers = await Promise.all(payments.map(({ body }) => net.settle(body)))
    expect(answers.map(({ body }) => body.success).sort()).toEqual([false, true])
    const reasons = answers.map(({ body }) => body.errorReason).filter((reason) => reason !== undefined)
    expect(['permit_nonce_in_use', 'permit_nonce_stale']).toContain(reasons[0])
    const burns = await Promise.all(payments.map(({ offer }) => net.burnsOf(offer.challengeNonce)))
    expect(burns.flat()).toHaveLength(1)
  })

  it('a second payer cannot take a challenge that another one paid', async () => {
    const { offer, body } = await net.permitPayment(payer)
    const { transaction } = (await net.settle(body)).body
    const other = bodyOf(offer, await net.permitFor(offer, stranger))
    expect((await net.verify(other)).body.invalidReason).toBe('challenge_claimed')
    expect((await net.settle(other)).body).toMatchObject({
      success: false,
      errorReason: 'challenge_claimed',
      transaction,
    })
  })
})
