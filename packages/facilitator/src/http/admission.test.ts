import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { stoppedClock } from '../../../../test/support/clocks.js'
import { challengeOf } from '../../test/challenges.js'
import { limits } from '../config/limits.js'
import type { Payment } from '../payment/records.js'
import { createAdmission } from './admission.js'

const token = 'a0'.repeat(32)
const stranger = { ip: '192.0.2.1', headers: {} }
const another = { ip: '192.0.2.2', headers: {} }
const seller = { ip: '192.0.2.1', headers: { authorization: `Bearer ${token}` } }

function open(strangers = { ratePerMin: 6, issuancePerMin: 2 }) {
  const clock = stoppedClock()
  const tokenSha256 = createHash('sha256').update(token).digest('hex')
  const admission = createAdmission({
    sellers: [{ key: 'seller:shop', tokenSha256, ratePerMin: 8, issuancePerMin: 4 }],
    strangers,
    clock,
    log: () => undefined,
  })
  return { admission, clock }
}

const paymentOf = (seed: number, changes: Partial<Payment> = {}) =>
  ({ challenge: challengeOf(seed), granted: false, ...changes }) as Payment
const claim = { identity: 'a', ticketed: false } as NonNullable<Payment['claim']>

/** How many of so many are let in. */
const passed = (times: number, ask: () => { ok: boolean } | undefined) => {
  let count = 0
  for (let i = 0; i < times; i++) if (ask()?.ok !== false) count += 1
  return count
}

describe('admission', () => {
  it('R-072 counts challenges and payments of a caller, known or not, in one rate', () => {
    const { admission, clock } = open()
    expect(passed(2, () => admission.issue(stranger))).toBe(2)
    expect(passed(2, () => admission.present(stranger, paymentOf(1)))).toBe(2)
    expect(passed(1, () => admission.present(stranger, undefined))).toBe(1)
    expect(passed(9, () => admission.request(stranger))).toBe(1)
    expect(passed(9, () => admission.present(stranger, paymentOf(2)))).toBe(0)
    expect(passed(9, () => admission.request(another))).toBe(6)
    expect(passed(9, () => admission.request(seller))).toBe(8)
    clock.advance(60_000)
    expect(passed(9, () => admission.present(stranger, paymentOf(2)))).toBe(6)
  })

  it('refuses a claimed payment for the rate of its challenge and caller alone', () => {
    const { admission } = open()
    expect(passed(9, () => admission.request(stranger))).toBe(6)
    const claimed = passed(20, () => admission.present(stranger, paymentOf(1, { claim })))
    expect(claimed).toBe(limits.presentedPerMin)
    expect(passed(1, () => admission.present(stranger, paymentOf(2, { claim })))).toBe(1)
    expect(passed(20, () => admission.present(another, paymentOf(1, { claim })))).toBe(limits.presentedPerMin)
  })

  it('takes nothing from a caller for what its challenge, or its rate for challenges, refuses', () => {
    const { admission } = open({ ratePerMin: 20, issuancePerMin: 2 })
    expect(passed(50, () => admission.present(stranger, paymentOf(1)))).toBe(limits.presentedPerMin)
    expect(passed(50, () => admission.issue(stranger))).toBe(2)
    expect(passed(50, () => admission.request(stranger))).toBe(20 - limits.presentedPerMin - 2)
  })

  it('R-072 a rate of zero switches off that of the challenges, too', () => {
    const { admission } = open({ ratePerMin: 0, issuancePerMin: 0 })
    expect(passed(500, () => admission.present(stranger, paymentOf(1)))).toBe(500)
    expect(passed(500, () => admission.issue(stranger))).toBe(500)
  })

  it('gives each participant the rate of a caller', () => {
    const { admission } = open()
    expect(passed(9, () => admission.participant('payer'))).toBe(6)
    expect(passed(9, () => admission.participant('provider'))).toBe(6)
  })

  it('counts what is no payment for itself, a kind at a time, and not at all where rates are off', () => {
    const { admission } = open()
    for (const kind of ['page', 'status', 'document', 'unrouted'] as const) {
      expect(passed(999, () => admission.aside(stranger, kind))).toBe(limits.asidePerMin[kind])
    }
    expect(passed(9, () => admission.request(stranger))).toBe(6)
    expect(passed(1, () => admission.aside(another, 'page'))).toBe(1)
    const { admission: off } = open({ ratePerMin: 0, issuancePerMin: 0 })
    expect(passed(999, () => off.aside(stranger, 'document'))).toBe(999)
  })
})
