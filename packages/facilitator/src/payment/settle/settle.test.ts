import { accept, type FacilitatorApi, type Payload, reject, SvcError } from '@svc-zerc20/protocol'
import { describe, expect, it } from 'vitest'
import { stoppedClock } from '../../../../../test/support/clocks.js'
import {
  addressOf,
  burnOf,
  challengeOf,
  deployment,
  permitPayloadOf,
  selfTransferOf,
} from '../../../test/challenges.js'
import { createMemoryLedger } from '../../../test/ledger.js'
import type { BurnOutcome } from '../ports.js'
import type { PayerMeans } from '../records.js'
import type { FlowEvent } from '../report.js'
import { createClaims } from './claims.js'
import { createExamine, type Examine } from './examine.js'
import { createSettle } from './settle.js'

const challenge = challengeOf(1)
const means: PayerMeans = {
  timestamp: challenge.issuedAt,
  permitNonce: 0n,
  balance: challenge.amount,
  allowance: 0n,
  executed: new Set(),
}
const burned: BurnOutcome = { kind: 'burned', burn: burnOf(5) }

/** The flow with the real ledger; the relay and the chain answer what a test tells them to. */
async function setup(options: {
  outcomes?: (() => Promise<BurnOutcome>)[]
  examined?: Partial<Examine>
  retention?: number
  /** How long a bound is. */
  boundMs?: number
}) {
  const clock = stoppedClock()
  const ledger = createMemoryLedger({ clock, openMax: 9, expiredRetentionSeconds: options.retention ?? 3600 })
  await ledger.issue(challenge)
  const events: FlowEvent[] = []
  const report = (event: FlowEvent) => events.push(event)
  const outcomes = [...(options.outcomes ?? [async () => burned])]
  const asked: string[] = []
  const next = (how: string) => {
    asked.push(how)
    return (outcomes.shift() ?? (async () => burned))()
  }
  const burner = {
    burn: () => next('burn'),
    find: () => next('find'),
    resume: () => [],
    watch: () => undefined,
    onReorged: () => undefined,
  }
  const tickets = { of: () => 'ticket', matches: () => false }
  const stateOf = createExamine({ deployment, ledger, clock, tickets } as never).stateOf
  const examine: Examine = {
    stateOf,
    permit: async () => accept({ verdict: 'burnable', means }),
    isLost: async () => false,
    lateBurn: (on, late) => examine.selfTransfer(on, late as Payload.SelfTransferPayload),
    selfTransfer: async () => accept(burnOf(5)),
    ...options.examined,
  }
  // Sleeps of the stopped clock end at once, so the bound is kept away from burns that need some turns, on a busy machine too.
  const patient = {
    ...clock,
    sleep: () => new Promise<void>((resolve) => setTimeout(resolve, options.boundMs ?? 10_000)),
  }
  const claims = createClaims({
    burner,
    ledger,
    examine,
    clock: patient,
    report,
    retryMs: { first: 1, max: 1 },
    draining: new AbortController().signal,
    closing: new AbortController().signal,
  })
  const settle = createSettle({
    deployment,
    examine,
    ledger,
    claims,
    report,
    receiptPollMs: 20,
  })
  const present = async (payload: FacilitatorApi.PresentedPayment['payload']) =>
    settle({ payload }, await ledger.presented(payload))
  return { clock, ledger, events, asked, present, claims }
}

describe('settle', () => {
  it('R-113 a run that broke off is taken up by the same payload, and accepted once', async () => {
    const { present, asked, events } = await setup({
      outcomes: [() => Promise.reject(new SvcError('rpc_error', 'nonsense')), async () => burned],
    })
    const payload = permitPayloadOf(challenge)
    await expect(present(payload)).rejects.toThrow('nonsense')
    expect((await present(payload)).response).toMatchObject({ success: true })
    expect(asked).toEqual(['burn', 'burn'])
    expect(events.filter(({ event }) => event === 'payment.accepted')).toHaveLength(1)
  })

  it('R-132 a run that broke off after the burn is looked up, not sent again', async () => {
    let executed = false
    const { present, asked } = await setup({
      outcomes: [() => Promise.reject(new Error('broke off')), async () => burned],
      examined: { permit: async () => accept({ verdict: executed ? 'burned' : 'burnable', means }) },
    })
    const payload = permitPayloadOf(challenge)
    await expect(present(payload)).rejects.toThrow('broke off')
    executed = true
    expect((await present(payload)).response.success).toBe(true)
    expect(asked).toEqual(['burn', 'find'])
  })

  it('a run that broke off and cannot succeed any more keeps the hash it is known by', async () => {
    let rejected = false
    let isLost = false
    const { present, ledger } = await setup({
      outcomes: [() => Promise.reject(new Error('broke off'))],
      examined: {
        permit: async () => (rejected ? reject('deadline_passed') : accept({ verdict: 'burnable', means })),
        isLost: async () => isLost,
      },
    })
    const payload = permitPayloadOf(challenge)
    await expect(present(payload)).rejects.toThrow('broke off')
    await ledger.recordSigned({ txNonce: 0, hash: burnOf(7).txHash, raw: '0x02', from: addressOf(0xb0) }, [
      challenge.nonce,
    ])
    rejected = true
    // A block that a reorg brings may hold it.
    expect((await present(payload)).response.errorReason).toBe('pending_burn')
    isLost = true
    expect((await present(payload)).response).toMatchObject({
      errorReason: 'deadline_passed',
      transaction: burnOf(7).txHash,
    })
    expect((await ledger.find(challenge.nonce))?.claim).toBeUndefined()
  })

  it('a burn that a reorg took is waited for until it is lost', async () => {
    let isLost = false
    const { present, ledger } = await setup({
      boundMs: 20,
      examined: { permit: async () => reject('deadline_passed'), isLost: async () => isLost },
    })
    const payload = permitPayloadOf(challenge)
    await ledger.claim(challenge.nonce, payload)
    await ledger.accept(challenge.nonce, burnOf(5))
    await ledger.demote(challenge.nonce)
    expect((await present(payload)).response.errorReason).toBe('pending_burn')
    isLost = true
    expect((await present(payload)).response.errorReason).toBe('deadline_passed')
  })

  it('a run that broke off before it signed frees the challenge for another payload', async () => {
    let isStale = false
    const { present } = await setup({
      outcomes: [() => Promise.reject(new Error('broke off')), async () => burned],
      examined: {
        permit: async () => (isStale ? reject('permit_nonce_stale') : accept({ verdict: 'burnable', means })),
      },
    })
    const payload = permitPayloadOf(challenge)
    await expect(present(payload)).rejects.toThrow('broke off')
    isStale = true
    expect((await present(payload)).response.errorReason).toBe('permit_nonce_stale')
    isStale = false
    const again = permitPayloadOf(challenge, { deadline: BigInt(challenge.expiresAt) + 1n })
    expect((await present(again)).response.success).toBe(true)
  })

  it('a burn that began while its payload was judged is waited for', async () => {
    let isStale = false
    let end: (outcome: BurnOutcome) => void = () => undefined
    const { present, claims } = await setup({
      outcomes: [
        () => Promise.reject(new Error('broke off')),
        () =>
          new Promise<BurnOutcome>((resolve) => {
            end = resolve
          }),
      ],
      examined: {
        async permit() {
          if (!isStale) return accept({ verdict: 'burnable', means })
          claims.start({ challenge, payload }, 'burnable')
          setTimeout(() => end(burned), 5)
          return reject('permit_nonce_stale')
        },
      },
    })
    const payload = permitPayloadOf(challenge)
    await expect(present(payload)).rejects.toThrow('broke off')
    isStale = true
    expect((await present(payload)).response.success).toBe(true)
  })

  it('a payload that comes too late is answered for, when one that came in time was held up and claims it', async () => {
    const { present, clock, ledger } = await setup({
      examined: {
        async lateBurn() {
          await ledger.claim(challenge.nonce, selfTransferOf(challenge, 5))
          await ledger.accept(challenge.nonce, burnOf(5))
          return accept(burnOf(5))
        },
      },
    })
    clock.advance(400_000)
    expect((await present(selfTransferOf(challenge, 5))).response.success).toBe(true)
  })

  it.each(['relayer_busy', 'chain_unavailable', 'burn_failed'] as const)(
    'a relay that ends with %s says so and leaves the challenge open for the same payload',
    async (reason) => {
      const { present, events } = await setup({
        outcomes: [async () => ({ kind: 'failed', rejection: reject(reason) }), async () => burned],
      })
      const payload = permitPayloadOf(challenge)
      expect((await present(payload)).response).toMatchObject({
        success: false,
        errorReason: reason,
        transaction: '',
      })
      expect(events).toContainEqual({ event: 'burn.failed', challengeNonce: challenge.nonce, reason })
      expect((await present(payload)).response.success).toBe(true)
    },
  )

  it('R-018 a challenge that is forgotten while the chain is asked gives challenge_expired, not a defect', async () => {
    const payloads = [permitPayloadOf(challenge), selfTransferOf(challenge, 5)]
    for (const payload of payloads) {
      const { present, clock } = await setup({
        retention: 0,
        examined: {
          permit: async () => {
            clock.advance(400_000)
            return accept({ verdict: 'burnable', means })
          },
          selfTransfer: async () => {
            clock.advance(400_000)
            return accept(burnOf(5))
          },
        },
      })
      expect((await present(payload)).response).toMatchObject({
        success: false,
        errorReason: 'challenge_expired',
      })
    }
  })

  it('of payloads presented in one turn one is burned, whoever comes first', async () => {
    const { present, asked, ledger } = await setup({})
    const payload = permitPayloadOf(challenge)
    const answers = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const { response, grant } = await present(payload)
        await grant?.use()
        return response
      }),
    )
    expect(asked).toEqual(['burn'])
    expect(answers.filter(({ success }) => success)).toHaveLength(1)
    expect(answers.filter(({ errorReason }) => errorReason === 'already_accepted')).toHaveLength(7)
    expect((await ledger.find(challenge.nonce))?.granted).toBe(true)
  })
})
