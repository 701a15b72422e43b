import { type ReasonCode, reasons } from '@svc-zerc20/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  addressOf,
  challengeOf,
  deployment,
  hashOf,
  nonceOf,
  permitPayloadOf,
  seconds,
  units,
} from '../../../test/challenges.js'
import type { PermitChainFacts, SelfTransferChainFacts } from '../ports.js'
import type { Challenge, OpenClaim, PayerMeans } from '../records.js'
import {
  judgeMeans,
  judgePermit,
  judgePermitForm,
  judgeRequirements,
  judgeSelfTransfer,
  type PermitFacts,
} from './judge.js'

const challenge = challengeOf(7)
const payload = permitPayloadOf(challenge)
const precedence = Object.keys(reasons) as ReasonCode[]

const goodChain: PermitChainFacts = {
  timestamp: seconds(1_700_000_100),
  permitNonce: 0n,
  balance: 1000n,
  allowance: 0n,
  executed: false,
  payerIsContract: false,
}
const good: PermitFacts = {
  chain: goodChain,
  permitSigner: payload.payer,
  burnAuthorizationSigner: payload.payer,
  openClaims: [],
  executed: new Set(),
  waitMs: 0,
  miningSeconds: 36,
}
const withChain = (changes: Partial<PermitChainFacts>): PermitFacts => ({
  ...good,
  chain: { ...goodChain, ...changes },
})
const reasonOf = (verdict: { ok: boolean; reason?: ReasonCode } | undefined) =>
  verdict && !verdict.ok ? verdict.reason : undefined

describe('judgePermit', () => {
  it('says burnable when every fact is good, and burned when the replay ledger holds it', () => {
    expect(judgePermit(challenge, payload, good)).toEqual({ ok: true, value: 'burnable' })
    expect(judgePermit(challenge, payload, withChain({ executed: true }))).toEqual({
      ok: true,
      value: 'burned',
    })
  })

  it('takes no permit whose burn would be mined behind its deadline', () => {
    const at = (timestamp: number) =>
      judgePermit(challenge, payload, withChain({ timestamp: seconds(timestamp) }))
    expect(at(1_700_000_264).ok).toBe(true)
    expect(reasonOf(at(1_700_000_265))).toBe('deadline_passed')
  })

  it('a burn executed in time stays good past the deadline, unless its signatures are wrong', () => {
    const late = { executed: true, timestamp: seconds(1_900_000_000) }
    expect(judgePermit(challenge, payload, withChain(late)).ok).toBe(true)
    expect(
      reasonOf(judgePermit(challenge, payload, { ...withChain(late), permitSigner: addressOf(9) })),
    ).toBe('signer_mismatch')
  })

  it('a used permit nonce is good only while the allowance covers the amount', () => {
    const used = (allowance: bigint) =>
      judgePermit(challenge, payload, withChain({ permitNonce: 1n, allowance }))
    expect(used(1000n).ok).toBe(true)
    expect(reasonOf(used(999n))).toBe('permit_nonce_stale')
  })

  it('a permit nonce of the future is stale however large the allowance is', () => {
    const future = permitPayloadOf(challenge, { nonce: 1n })
    expect(reasonOf(judgePermit(challenge, future, withChain({ allowance: 10_000n })))).toBe(
      'permit_nonce_stale',
    )
  })

  /** Each defect alone gives its reason; of several, the table's first. */
  const defects: { reason: ReasonCode; apply: (facts: PermitFacts) => PermitFacts }[] = [
    {
      reason: 'deadline_passed',
      apply: (facts) => ({ ...facts, chain: { ...facts.chain, timestamp: seconds(1_900_000_000) } }),
    },
    { reason: 'invalid_signature', apply: (facts) => ({ ...facts, permitSigner: undefined }) },
    { reason: 'signer_mismatch', apply: (facts) => ({ ...facts, burnAuthorizationSigner: addressOf(9) }) },
    { reason: 'payer_must_wait', apply: (facts) => ({ ...facts, waitMs: 1 }) },
    {
      reason: 'permit_nonce_in_use',
      apply: (facts) => ({ ...facts, openClaims: [{ challenge: challengeOf(8), permitNonce: 0n }] }),
    },
    {
      reason: 'permit_nonce_stale',
      apply: (facts) => ({ ...facts, chain: { ...facts.chain, permitNonce: 5n } }),
    },
    {
      reason: 'insufficient_funds',
      apply: (facts) => ({ ...facts, chain: { ...facts.chain, balance: 999n } }),
    },
  ]
  it.each(defects)('gives $reason for that defect alone', ({ reason, apply }) => {
    expect(reasonOf(judgePermit(challenge, payload, apply(good)))).toBe(reason)
  })

  it('tells the first of several defects in the order of the table', () => {
    fc.assert(
      fc.property(fc.subarray(defects, { minLength: 1 }), (chosen) => {
        const facts = chosen.reduce((sofar, { apply }) => apply(sofar), good)
        const expected = precedence.find((code) => chosen.some(({ reason }) => reason === code))
        expect(reasonOf(judgePermit(challenge, payload, facts))).toBe(expected)
      }),
    )
  })

  it('a contract gets its own name instead of a signature problem, and a signing contract account is no problem', () => {
    const contract = withChain({ payerIsContract: true })
    expect(reasonOf(judgePermit(challenge, payload, { ...contract, permitSigner: undefined }))).toBe(
      'contract_payer',
    )
    expect(reasonOf(judgePermit(challenge, payload, { ...contract, permitSigner: addressOf(9) }))).toBe(
      'contract_payer',
    )
  })
})

describe('judgeMeans', () => {
  const means: PayerMeans = {
    timestamp: goodChain.timestamp,
    permitNonce: 5n,
    balance: 3000n,
    allowance: 0n,
    executed: new Set(),
  }
  const openClaim = (seed: number, permitNonce: bigint, changes: Partial<Challenge> = {}): OpenClaim => ({
    challenge: challengeOf(seed, changes),
    permitNonce,
  })
  const judge = (permitNonce: bigint, openClaims: readonly OpenClaim[], changes: Partial<PayerMeans> = {}) =>
    judgeMeans(
      challenge,
      permitPayloadOf(challenge, { nonce: permitNonce }),
      { ...means, ...changes },
      openClaims,
    )?.reason

  it('one burn of a payer is under way at a time, whatever its balance and allowance would cover', () => {
    const rich = { balance: 1_000_000n, allowance: 1_000_000n }
    expect(judge(5n, [], rich)).toBeUndefined()
    for (const permitNonce of [3n, 4n, 5n, 6n]) {
      expect(judge(permitNonce, [openClaim(1, 2n)], rich)).toBe('payer_must_wait')
    }
    expect(judge(4n, [openClaim(1, 4n)], rich)).toBe('permit_nonce_in_use')
  })

  it('what is on chain already, can happen no more, or is this very payment holds up nothing', () => {
    expect(judge(5n, [openClaim(1, 4n)])).toBe('payer_must_wait')
    expect(judge(5n, [openClaim(1, 4n)], { executed: new Set([nonceOf(1)]) })).toBeUndefined()
    expect(judge(5n, [openClaim(1, 4n, { deadline: seconds(1_700_000_099) })])).toBeUndefined()
    expect(judge(5n, [openClaim(7, 5n)])).toBeUndefined()
  })

  it('a used permit nonce is good for what the allowance still covers', () => {
    expect(judge(4n, [], { allowance: 1000n })).toBeUndefined()
    expect(judge(4n, [], { allowance: 999n })).toBe('permit_nonce_stale')
    expect(judge(5n, [], { balance: 999n })).toBe('insufficient_funds')
  })
})

describe('judgePermitForm', () => {
  it('names what can be seen without the chain, in the order of the table', () => {
    const { deadline: _none, ...withoutDeadline } = challenge
    const wrong = permitPayloadOf(challenge, { value: 1n, deadline: 1n })
    expect(reasonOf(judgePermitForm(withoutDeadline, wrong))).toBe('permit_not_offered')
    expect(reasonOf(judgePermitForm(challenge, wrong))).toBe('value_mismatch')
    expect(reasonOf(judgePermitForm(challenge, permitPayloadOf(challenge, { deadline: 1n })))).toBe(
      'deadline_mismatch',
    )
    expect(judgePermitForm(challenge, payload)).toBeUndefined()
  })
})

describe('judgeRequirements', () => {
  const requirements = {
    network: 'eip155:31337',
    asset: deployment.token,
    payTo: challenge.payTo,
    amount: '1000',
    extra: { challengeNonce: challenge.nonce },
  }

  it('R-128 passes exactly the five fields of the record, whatever else stands there', () => {
    expect(judgeRequirements({ ...requirements, more: 1 }, challenge, deployment)).toBeUndefined()
  })

  it('R-128 names every field that differs, whatever its type', () => {
    const odd = fc.constantFrom<unknown>(
      undefined,
      null,
      1,
      true,
      [],
      {},
      '',
      '0x',
      'eip155:1',
      '1e3',
      '01000',
    )
    const field = fc.constantFrom('network', 'asset', 'payTo', 'amount', 'extra')
    fc.assert(
      fc.property(field, odd, (name, value) => {
        const rejection = judgeRequirements({ ...requirements, [name]: value }, challenge, deployment)
        expect(rejection?.reason).toBe('requirements_mismatch')
        expect(rejection?.message).toContain(name === 'extra' ? 'extra.challengeNonce' : name)
      }),
    )
  })

  it('R-128 another nonce is another challenge', () => {
    const other = { ...requirements, extra: { challengeNonce: nonceOf(8) } }
    expect(judgeRequirements(other, challenge, deployment)?.reason).toBe('requirements_mismatch')
  })
})

describe('judgeSelfTransfer', () => {
  const transfer = (value: bigint, to = challenge.payTo) => ({
    leafIndex: value,
    from: addressOf(5),
    to,
    value: units(value),
  })
  const facts = (
    transfers: ReturnType<typeof transfer>[],
    changes: Partial<SelfTransferChainFacts> = {},
  ): SelfTransferChainFacts => ({
    timestamp: seconds(1_700_000_100),
    headNumber: 10n,
    burnAddressBalance: 1000n,
    receipt: { succeeded: true, blockNumber: 10n, blockHash: '0x', transfers },
    ...changes,
  })
  const judge = (given: SelfTransferChainFacts, confirmations = 1) =>
    judgeSelfTransfer(challenge, hashOf(1), given, confirmations)

  it('R-005 finds the one transfer that covers the amount, the largest of several', () => {
    const verdict = judge(
      facts([transfer(1n), transfer(1200n), transfer(1000n), transfer(9999n, addressOf(3))]),
    )
    expect(verdict).toMatchObject({ ok: true, value: { txHash: hashOf(1), value: 1200n, leafIndex: 1200n } })
  })

  const cases: [ReasonCode, SelfTransferChainFacts][] = [
    ['burn_not_found', { timestamp: seconds(0), headNumber: 1n, burnAddressBalance: 0n }],
    [
      'burn_reverted',
      facts([], { receipt: { succeeded: false, blockNumber: 1n, blockHash: '', transfers: [] } }),
    ],
    ['burn_mismatch', facts([transfer(1000n, addressOf(3))])],
    ['burn_underpaid', facts([transfer(999n)])],
    ['burn_split', facts([transfer(999n), transfer(1n)])],
    ['burn_not_held', facts([transfer(1000n)], { burnAddressBalance: 999n })],
    ['pending_burn', facts([transfer(1000n)], { headNumber: 9n })],
  ]
  it.each(cases)('R-005 gives %s', (reason, given) => {
    expect(reasonOf(judge(given))).toBe(reason)
  })

  it('the reasons stand in the order of the table', () => {
    const order = cases.map(([reason]) => precedence.indexOf(reason))
    expect(order).toEqual([...order].sort((a, b) => a - b))
  })

  it('counts confirmations from the block of the burn', () => {
    const given = facts([transfer(1000n)], { headNumber: 12n })
    expect(judge(given, 3).ok).toBe(true)
    expect(reasonOf(judge(given, 4))).toBe('pending_burn')
  })
})
