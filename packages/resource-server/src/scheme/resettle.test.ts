import type { Clock } from '@svc-zerc20/protocol'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  type Answer,
  accepted,
  burnTx,
  inOrder,
  refused,
  startFacilitator,
  type TestFacilitator,
} from '../../test/facilitator.js'
import { offerOf, openShop, paymentFor, receipt, required, type Shop, schemeFor } from '../../test/shop.js'
import { limits } from '../limits.js'

const pending: Answer = { body: refused('pending_burn', burnTx) }
const success: Answer = { body: accepted }

let facilitator: TestFacilitator
let shop: Shop
let slept: number[]
let elapsedMs = 0

// Sleeping takes no time here, but the clock moves as if it had, and by nothing else.
const startMs = Date.now()
const clock: Clock = {
  now: () => startMs + elapsedMs,
  sleep: async (ms) => {
    slept.push(ms)
    elapsedMs += ms
  },
}

beforeAll(async () => {
  facilitator = await startFacilitator()
  const svc = schemeFor(facilitator.url, { clock })
  shop = await openShop(svc, {
    'GET /x': { accepts: svc.accept({ price: '100' }) },
    'GET /upfront': { accepts: svc.accept({ price: '100', upfront: true }) },
  })
})
beforeEach(() => {
  facilitator.reset()
  slept = []
  elapsedMs = 0
})
afterAll(async () => {
  await shop.close()
  await facilitator.close()
})

async function pay(path = '/x', seller = shop) {
  const payment = paymentFor(offerOf(required(await seller.get(path))))
  facilitator.forget()
  return { payment, response: await seller.get(path, payment) }
}
const settleBodies = () =>
  facilitator.calls.filter(({ path }) => path === '/settle').map(({ body }) => JSON.stringify(body))

describe('a pending burn', () => {
  it('R-113 is presented again with the very same payload until it is accepted: one 200 for one burn', async () => {
    facilitator.script.settle = inOrder(pending, pending, pending, success)
    const before = shop.served()
    const { response } = await pay()
    expect(response.status).toBe(200)
    expect(receipt(response)).toEqual(accepted)
    expect(facilitator.counts()).toEqual({ challenge: 0, verify: 1, settle: 4, payments: 0 })
    expect(new Set(settleBodies()).size).toBe(1)
    expect(slept).toEqual(limits.recoveryPausesMs.slice(0, 3))
    expect(shop.served()).toBe(before + 1)
  })

  it('R-154 that stays pending ends, bounded in count and time, in a 402 with the burn hash', async () => {
    facilitator.script.settle = () => pending
    const { response } = await pay()
    expect(response.status).toBe(402)
    expect(receipt(response)).toMatchObject(refused('pending_burn', burnTx))
    expect(facilitator.counts().settle).toBe(1 + limits.recoveryPausesMs.length)
    expect(elapsedMs).toBeLessThan(limits.recoveryBudgetMs)
  })

  it('stops when its time is up, however many re-sends are left', async () => {
    facilitator.script.settle = () => {
      elapsedMs += 4_000
      return pending
    }
    const { response } = await pay()
    expect(response.status).toBe(402)
    expect(facilitator.counts().settle).toBe(4)
    expect(slept).toEqual(limits.recoveryPausesMs.slice(0, 3))
  })

  it('that is refused later tells the later reason', async () => {
    facilitator.script.settle = inOrder(pending, { body: refused('burn_failed', burnTx) }, success)
    const { response } = await pay()
    expect(response.status).toBe(402)
    expect(receipt(response).errorReason).toBe('burn_failed')
    expect(facilitator.counts().settle).toBe(2)
  })

  it('is recovered on an upfront route too, before the handler', async () => {
    facilitator.script.settle = inOrder(pending, success)
    const { response } = await pay('/upfront')
    expect(response.status).toBe(200)
    expect(receipt(response)).toEqual(accepted)
    expect(facilitator.counts()).toMatchObject({ verify: 0, settle: 2 })
  })

  it('is what a busy facilitator amounts to: 503 with a reason, and 429', async () => {
    const busy: Answer = { status: 503, body: refused('relayer_busy') }
    const limited: Answer = { status: 429, body: { error: 'too_many_requests' } }
    facilitator.script.settle = inOrder(busy, limited, success)
    const { response } = await pay()
    expect(response.status).toBe(200)
    expect(facilitator.counts()).toMatchObject({ settle: 3, payments: 1 })
  })
})

describe('a lost answer', () => {
  const losses: [string, Answer][] = [
    ['a closed connection', 'drop'],
    ['a bad gateway', { status: 502, body: '<html>' }],
    ['half an answer', { body: '{"success":tr' }],
  ]
  it.each(losses)('by %s is asked for by its nonce and the same payload sent again', async (_, loss) => {
    facilitator.script.settle = inOrder(loss, success)
    const { payment, response } = await pay()
    expect(response.status).toBe(200)
    expect(receipt(response)).toEqual(accepted)
    const nonce = payment.accepted.extra.challengeNonce
    const paths = facilitator.calls.map(({ method, path }) => `${method} ${path}`)
    expect(paths).toEqual(['POST /verify', 'POST /settle', `GET /payments/${nonce}`, 'POST /settle'])
    expect(new Set(settleBodies()).size).toBe(1)
  })

  it('by silence is taken for lost after the time-out, and found again', async () => {
    const svc = schemeFor(facilitator.url, { clock, limits: { settleTimeoutMs: 50 } })
    const impatient = await openShop(svc, { 'GET /x': { accepts: svc.accept({ price: '100' }) } })
    try {
      facilitator.script.settle = inOrder('hang', success)
      const { response } = await pay('/x', impatient)
      expect(response.status).toBe(200)
      expect(facilitator.counts()).toMatchObject({ settle: 2, payments: 1 })
    } finally {
      await impatient.close()
    }
  })

  it('sends no settle to a facilitator that does not answer for the payment', async () => {
    facilitator.script.settle = inOrder('drop', success)
    facilitator.script.payments = inOrder('drop', { status: 503, body: {} }, { body: { phase: 'accepted' } })
    const { response } = await pay()
    expect(response.status).toBe(200)
    expect(facilitator.counts()).toMatchObject({ settle: 2, payments: 3 })
  })

  it('that cannot be found again ends in 502: no 402 that would ask for another payment', async () => {
    facilitator.script.settle = () => 'drop'
    facilitator.script.payments = () => 'drop'
    const { response } = await pay()
    expect(response.status).toBe(502)
    expect(response.headers.has('payment-required')).toBe(false)
    expect(facilitator.counts()).toMatchObject({ settle: 1, payments: limits.recoveryPausesMs.length })
    expect(await response.text()).not.toContain(String(facilitator.port))
  })

  it('whose grant was used is never made a success', async () => {
    facilitator.script.settle = inOrder('drop', { body: refused('already_accepted', burnTx) }, success)
    facilitator.script.payments = () => ({ body: { phase: 'accepted', transaction: burnTx } })
    const { response } = await pay()
    expect(response.status).toBe(402)
    expect(receipt(response)).toMatchObject(refused('already_accepted', burnTx))
    expect(facilitator.counts()).toMatchObject({ settle: 2, payments: 1 })
  })
})

describe('a refusal', () => {
  const reasons = ['already_accepted', 'challenge_expired', 'burn_reverted', 'some_future_reason']
  it.each(reasons)('for %s is final: nothing is sent again', async (reason) => {
    const verdict = { ...refused(reason, burnTx), extra: { phase: 'accepted' } }
    facilitator.script.settle = inOrder({ body: verdict }, success)
    const { response } = await pay()
    expect(response.status).toBe(402)
    expect(receipt(response)).toEqual(verdict)
    expect(facilitator.counts()).toMatchObject({ settle: 1, payments: 0 })
    expect(slept).toEqual([])
  })
})

describe('the limits', () => {
  it('leave a payer with 30 s an answer: settle and recovery fit beside verify and handler', () => {
    const pausesMs = limits.recoveryPausesMs.reduce((sum, ms) => sum + ms, 0)
    expect(pausesMs).toBeLessThan(limits.recoveryBudgetMs)
    expect(limits.settleTimeoutMs).toBeGreaterThan(15_000)
    expect(limits.settleTimeoutMs + limits.recoveryBudgetMs).toBeLessThan(28_000)
  })
})
