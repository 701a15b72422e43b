import { type BaseUnits, type Payload, parseSignature } from '@svc-zerc20/protocol'
import fc from 'fast-check'
import { type Hex, hexToBytes, recoverAddress } from 'viem'
import { privateKeyToAccount, sign } from 'viem/accounts'
import { describe, expect, it } from 'vitest'
import { challengeOf, deployment, permitPayloadOf } from '../../../test/challenges.js'
import { joinSignature, mirrored, signPermit, splitSignature as split } from '../../../test/payment.js'
import { createMetrics } from '../../telemetry/metrics.js'
import { signersOf } from './signer-of.js'
import { canonical, createSigners, signerOfDigest, splitSignature } from './signers.js'

const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const privateKey = fc
  .bigInt({ min: 1n, max: order - 1n })
  .map((key) => `0x${key.toString(16).padStart(64, '0')}` as Hex)
const digest = fc
  .bigInt({ min: 0n, max: 2n ** 256n - 1n })
  .map((value) => `0x${value.toString(16).padStart(64, '0')}` as Hex)

describe('signerOfDigest', () => {
  it('R-037 recovers what viem recovers, for any key and message, with v written either way', async () => {
    await fc.assert(
      fc.asyncProperty(privateKey, digest, fc.boolean(), async (key, hash, short) => {
        const signature = split(await sign({ hash, privateKey: key, to: 'hex' }))
        const written = short ? { ...signature, v: signature.v - 27 } : signature
        const expected = await recoverAddress({ hash, signature: joinSignature(signature) })
        expect(signerOfDigest(hexToBytes(hash), written)).toBe(expected.toLowerCase())
      }),
      { numRuns: 50 },
    )
  })

  it('never takes the mirrored signature', async () => {
    await fc.assert(
      fc.asyncProperty(privateKey, digest, async (key, hash) => {
        const signature = split(await sign({ hash, privateKey: key, to: 'hex' }))
        expect(signerOfDigest(hexToBytes(hash), mirrored(signature))).toBeUndefined()
      }),
      { numRuns: 20 },
    )
  })

  it('answers any bytes at all with an address or undefined, and agrees with viem when it answers', async () => {
    const bytes32 = digest
    await fc.assert(
      fc.asyncProperty(digest, bytes32, bytes32, fc.integer({ min: 0, max: 255 }), async (hash, r, s, v) => {
        const signer = signerOfDigest(hexToBytes(hash), { r, s, v })
        if (signer === undefined) return
        const signature = joinSignature({ r, s, v: v < 27 ? v + 27 : v })
        expect(signer).toBe((await recoverAddress({ hash, signature })).toLowerCase())
      }),
      { numRuns: 300 },
    )
  })
})

describe('canonical', () => {
  it('takes v of 0, 1, 27 and 28 and nothing else', () => {
    const good = Array.from({ length: 256 }, (_, v) => v).filter((v) => canonical({ r: '0x1', s: '0x1', v }))
    expect(good).toEqual([0, 1, 27, 28])
  })

  it('ends exactly at half the order', () => {
    const half = order / 2n
    expect(canonical({ r: '0x1', s: `0x${half.toString(16)}`, v: 27 })).toBeDefined()
    expect(canonical({ r: '0x1', s: `0x${(half + 1n).toString(16)}`, v: 27 })).toBeUndefined()
  })
})

describe('createSigners', () => {
  const account = privateKeyToAccount(`0x${'42'.repeat(32)}`)
  const challenge = challengeOf(7)
  const offer = {
    payTo: challenge.payTo,
    amount: '1000',
    token: deployment.token,
    chainId: 31337,
    challengeNonce: challenge.nonce,
    expiresAt: challenge.expiresAt,
    helper: deployment.helper as Hex,
    deadline: challenge.expiresAt,
  }
  const signed = async (): Promise<Payload.PermitPayload> => {
    const { permit, burnAuthSig } = await signPermit(offer, account, { tokenName: 'Devnet zUSD', nonce: 3n })
    const base = permitPayloadOf(challenge, { payer: account.address.toLowerCase() as never, nonce: 3n })
    return {
      ...base,
      permit: {
        ...base.permit,
        v: permit.v,
        r: permit.r as Payload.Permit['r'],
        s: permit.s as Payload.Permit['s'],
      },
      burnAuthSig: parseSignature(burnAuthSig) ?? base.burnAuthSig,
    }
  }

  const payer = account.address.toLowerCase()
  const metrics = createMetrics()

  it('R-035 R-036 recovers both messages as a wallet signs them', async () => {
    const signers = createSigners({ deployment, cacheEntries: 10, metrics })
    expect(await signers(challenge, await signed())).toEqual({
      permitSigner: payer,
      burnAuthorizationSigner: payer,
    })
  })

  it('remembers no more than it may, and a forgotten one recovers again', async () => {
    const signers = createSigners({ deployment, cacheEntries: 1, metrics })
    const payload = await signed()
    const other = { ...payload, permit: { ...payload.permit, nonce: 4n as BaseUnits } }
    for (let round = 0; round < 3; round++) {
      expect((await signers(challenge, payload)).permitSigner).toBe(payer)
      expect((await signers(challenge, other)).permitSigner).not.toBe(payer)
    }
  })

  it('recovers nothing twice, and takes nothing that differs for the same', async () => {
    const asked: string[] = []
    const thread = {
      signerOf: async (question: string) => {
        asked.push(question)
        return signersOf([question])[0]
      },
    }
    const counted = createMetrics()
    const signers = createSigners({ deployment, cacheEntries: 100, metrics: counted, thread })
    const payload = await signed()
    const { permit } = payload
    const flipped = <T extends string>(hex: T) =>
      `${hex.slice(0, 10)}${hex[10] === '0' ? '1' : '0'}${hex.slice(11)}` as T
    const others: readonly (readonly [typeof challenge, Payload.PermitPayload])[] = [
      [{ ...challenge, nonce: flipped(challenge.nonce) }, payload],
      [{ ...challenge, payTo: flipped(challenge.payTo) }, payload],
      [{ ...challenge, amount: (challenge.amount + 1n) as BaseUnits }, payload],
      [{ ...challenge, deadline: ((challenge.deadline ?? 0) + 1) as never }, payload],
      [challenge, { ...payload, payer: flipped(payload.payer) }],
      [challenge, { ...payload, burnAuthSig: flipped(payload.burnAuthSig) }],
      [challenge, { ...payload, permit: { ...permit, value: (permit.value + 1n) as BaseUnits } }],
      [challenge, { ...payload, permit: { ...permit, nonce: (permit.nonce + 1n) as BaseUnits } }],
      [challenge, { ...payload, permit: { ...permit, deadline: (permit.deadline + 1n) as BaseUnits } }],
      [challenge, { ...payload, permit: { ...permit, r: flipped(permit.r) } }],
      [challenge, { ...payload, permit: { ...permit, s: flipped(permit.s) } }],
      [challenge, { ...payload, permit: { ...permit, v: 55 - permit.v } }],
    ]
    await Promise.all([signers(challenge, payload), signers(challenge, payload)])
    await signers(challenge, { ...payload })
    expect(asked).toHaveLength(2)
    expect(await counted.render()).toContain('\nsvc_signatures_recovered_total 2\n')
    for (const [otherChallenge, otherPayload] of others) {
      const { permitSigner, burnAuthorizationSigner } = await signers(otherChallenge, otherPayload)
      expect([permitSigner, burnAuthorizationSigner]).not.toEqual([payer, payer])
    }
  })

  it('R-027 recovers nothing without a helper', async () => {
    const { helper: _none, ...withoutHelper } = deployment
    const signers = createSigners({ deployment: withoutHelper, cacheEntries: 1, metrics })
    expect(await signers(challenge, await signed())).toEqual({
      permitSigner: undefined,
      burnAuthorizationSigner: undefined,
    })
  })

  it('reads 65 bytes as r, s and v', () => {
    const signature = `0x${'11'.repeat(32)}${'22'.repeat(32)}1b`
    expect(splitSignature(signature)).toEqual({ r: `0x${'11'.repeat(32)}`, s: `0x${'22'.repeat(32)}`, v: 27 })
  })
})
