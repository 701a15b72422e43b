import { Headers, reasons } from '@svc-zerc20/protocol'
import { describe, expect, it } from 'vitest'
import { judgeAnswer, type Outcome, readAnswer } from './outcome.js'

const refusedSettle = (errorReason: string) =>
  judgeAnswer({ settleResponse: { success: false, errorReason } })

describe('the answer to a payment', () => {
  it('is judged for every reason of the protocol', () => {
    const byRetry: Record<string, Outcome> = {
      never: 'refused',
      fresh_offer: 'refused',
      same_payload: 'send_again',
      later: 'unknown',
    }
    const outrun = ['permit_nonce_in_use', 'permit_nonce_stale', 'burn_failed']
    for (const [code, { retry }] of Object.entries(reasons)) {
      expect(refusedSettle(code)).toBe(outrun.includes(code) ? 'sign_again' : byRetry[retry])
    }
  })

  it('is read the same from a failed verify, also with a message behind the reason', () => {
    expect(judgeAnswer({ paymentRequired: { error: 'burn_not_found: no receipt yet' } })).toBe('send_again')
    expect(judgeAnswer({ paymentRequired: { error: 'signer_mismatch' } })).toBe('refused')
  })

  it('leaves the payment open when the words are not ours', () => {
    expect(refusedSettle('constructor')).toBe('unknown')
    expect(judgeAnswer({ paymentRequired: { error: 'No matching payment requirements' } })).toBe('unknown')
    expect(judgeAnswer({ paymentRequired: {} })).toBe('unknown')
  })

  it.each<[number, Outcome]>([
    [200, 'delivered'],
    [404, 'unserved'],
    [500, 'unserved'],
    [307, 'unserved'],
    [402, 'unknown'],
    [502, 'unknown'],
    [504, 'unknown'],
  ])('without payment headers follows from the status: %d is %s', (status, outcome) => {
    expect(judgeAnswer(readAnswer(new Response(null, { status })))).toBe(outcome)
  })

  it('is read from the headers of a response', () => {
    const settled = (body: object, status: number) =>
      judgeAnswer(
        readAnswer(new Response(null, { status, headers: { 'PAYMENT-RESPONSE': Headers.encode(body) } })),
      )
    expect(settled({ success: true, transaction: '0x01' }, 200)).toBe('accepted')
    expect(settled({ success: false, errorReason: 'pending_burn' }, 402)).toBe('send_again')
    expect(judgeAnswer(readAnswer(new Response(null, { headers: { 'PAYMENT-RESPONSE': '%%%' } })))).toBe(
      'delivered',
    )
  })
})
