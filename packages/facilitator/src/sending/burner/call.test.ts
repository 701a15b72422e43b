import { burnTrialAbi, paymentLensAbi, permitBurnerAbi } from '@svc-zerc20/contracts'
import {
  type Address,
  type BaseUnits,
  parseAddress,
  parseChallengeNonce,
  type Signature,
} from '@svc-zerc20/protocol'
import fc from 'fast-check'
import { encodeAbiParameters, encodeFunctionData, getAbiItem, type Hex } from 'viem'
import { describe, expect, it } from 'vitest'
import { challengeOf, permitPayloadOf } from '../../../test/challenges.js'
import { lensArguments, readLens } from '../../chain/lens.js'
import type { ClaimedPermit } from '../../payment/records.js'
import { encodeBatch } from './call.js'
import { readTrial, trialArguments } from './trial.js'

const hexOf = (bytes: number) =>
  fc
    .uint8Array({ minLength: bytes, maxLength: bytes })
    .map((each) => `0x${Buffer.from(each).toString('hex')}` as Hex)
const uint256 = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })
const address = hexOf(20).map((hex) => parseAddress(hex) as Address)
const nonce = hexOf(32).map(
  (hex) => parseChallengeNonce(hex) as NonNullable<ReturnType<typeof parseChallengeNonce>>,
)
/** The lower half of the group, as every canonical signature has it. */
const lowS = fc.bigInt({ min: 1n, max: 2n ** 254n }).map((s) => `0x${s.toString(16).padStart(64, '0')}`)
const parity = fc.constantFrom(0, 1)
const smallUint = fc.integer({ min: 0, max: 2 ** 40 })

const item = fc
  .record({
    address,
    payer: address,
    nonce,
    amount: uint256,
    deadline: uint256,
    r: hexOf(32),
    s: lowS,
    v: parity,
    bindR: hexOf(32),
    bindS: lowS,
    bindV: parity,
  })
  .map((each): ClaimedPermit => {
    const challenge = {
      ...challengeOf(1),
      nonce: each.nonce,
      payTo: each.address,
      amount: each.amount as BaseUnits,
    }
    const payload = permitPayloadOf(challenge, { payer: each.payer, nonce: 0n })
    const permit = {
      ...payload.permit,
      deadline: each.deadline as BaseUnits,
      v: each.v,
      r: each.r as never,
      s: each.s as never,
    }
    const burnAuthSig = `${each.bindR}${each.bindS.slice(2)}0${each.bindV}` as Signature
    return { challenge, payload: { ...payload, permit, burnAuthSig } }
  })

const requestOf = ({ challenge, payload }: ClaimedPermit, token: Address) => ({
  authorization: {
    token,
    payer: payload.payer,
    burnAddress: challenge.payTo,
    value: challenge.amount,
    challengeNonce: challenge.nonce,
    deadline: payload.permit.deadline,
  },
  v: payload.permit.v + 27,
  r: payload.permit.r as Hex,
  s: payload.permit.s as Hex,
  burnAuthSig:
    `${payload.burnAuthSig.slice(0, 130)}${payload.burnAuthSig.endsWith('0') ? '1b' : '1c'}` as Hex,
})

describe('the calls of a payment are written and read as viem does', () => {
  it('a batch of burns, and its trial', () => {
    fc.assert(
      fc.property(fc.array(item, { maxLength: 5 }), address, address, (items, token, helper) => {
        const requests = items.map((each) => requestOf(each, token))
        expect(encodeBatch(items, token)).toBe(
          encodeFunctionData({ abi: permitBurnerAbi, functionName: 'burnBatch', args: [requests] }),
        )
        const { inputs } = getAbiItem({ abi: burnTrialAbi, name: 'run' })
        expect(`0x${trialArguments(helper, items, token)}`).toBe(
          encodeAbiParameters(inputs, [helper, requests]),
        )
      }),
      { numRuns: 60 },
    )
  })

  it('what a trial answers', () => {
    const outcome = fc.record({
      executed: fc.boolean(),
      reason: fc.integer({ min: 0, max: 100 }).chain(hexOf),
    })
    fc.assert(
      fc.property(smallUint, uint256, fc.array(outcome, { maxLength: 5 }), (timestamp, number, outcomes) => {
        const { outputs } = getAbiItem({ abi: burnTrialAbi, name: 'run' })
        expect(readTrial(encodeAbiParameters(outputs, [BigInt(timestamp), number, outcomes]))).toEqual({
          at: { timestamp, number },
          refusals: outcomes.map(({ executed, reason }) => (executed ? undefined : reason)),
        })
      }),
      { numRuns: 60 },
    )
  })

  it('what the lens is asked', () => {
    const query = fc.record({
      payer: address,
      burnAddress: address,
      value: uint256,
      challengeNonce: hexOf(32),
    })
    const { inputs } = getAbiItem({ abi: paymentLensAbi, name: 'read' })
    fc.assert(
      fc.property(
        fc.tuple(address, address, fc.array(query, { maxLength: 5 }), fc.array(address, { maxLength: 5 })),
        (args) => {
          expect(`0x${lensArguments(...args)}`).toBe(encodeAbiParameters(inputs, args))
        },
      ),
      { numRuns: 60 },
    )
  })

  it('what the lens answers', () => {
    const fact = fc.record({
      nonce: uint256,
      balance: uint256,
      allowance: uint256,
      executed: fc.boolean(),
      code: fc.integer({ min: 0, max: 2 }),
    })
    const { outputs } = getAbiItem({ abi: paymentLensAbi, name: 'read' })
    fc.assert(
      fc.property(
        smallUint,
        uint256,
        uint256,
        fc.array(fact, { maxLength: 5 }),
        fc.array(uint256, { maxLength: 5 }),
        fc.string({ maxLength: 40 }),
        (timestamp, number, chainId, facts, balances, name) => {
          const data = encodeAbiParameters(outputs, [
            BigInt(timestamp),
            number,
            chainId,
            facts,
            balances,
            name,
          ])
          expect(readLens(data)).toEqual({
            timestamp,
            number,
            chainId,
            balances,
            permits: facts.map(({ nonce: permitNonce, code, ...rest }) => ({
              permitNonce,
              ...rest,
              payerIsContract: code === 2,
            })),
          })
        },
      ),
      { numRuns: 60 },
    )
  })

  it('an answer that is none, or is cut off anywhere, is refused', () => {
    const { outputs } = getAbiItem({ abi: paymentLensAbi, name: 'read' })
    const facts = [{ nonce: 1n, balance: 2n, allowance: 3n, executed: true, code: 2 }]
    const lens = encodeAbiParameters(outputs, [1n, 2n, 3n, facts, [4n], ''])
    for (let length = 0; length < lens.length - 64; length++)
      expect(() => readLens(lens.slice(0, length))).toThrow()
    const trialOutputs = getAbiItem({ abi: burnTrialAbi, name: 'run' }).outputs
    const trial = encodeAbiParameters(trialOutputs, [1n, 2n, [{ executed: false, reason: '0x1234' }]])
    for (let length = 0; length < trial.length; length++)
      expect(() => readTrial(trial.slice(0, length))).toThrow()
    for (const bad of [undefined, null, 7, '0x', {}]) expect(() => readLens(bad)).toThrow()
  })

  it('a list that claims to be endless is refused before anything is made of it', () => {
    const word = (value: bigint) => value.toString(16).padStart(64, '0')
    const endless = `0x${[1n, 2n, 3n, 0xa0n, 0xa0n, 2n ** 40n].map(word).join('')}`
    expect(() => readLens(endless)).toThrow('no list')
    expect(() => readTrial(`0x${[1n, 2n, 0x60n, 2n ** 40n].map(word).join('')}`)).toThrow('no list')
  })
})
