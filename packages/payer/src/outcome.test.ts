import { Headers, reasons } from '@svc-zerc20/protocol'
import { describe, expect, it } from 'vitest'
import { endOf, endUnpaid, exitAt, judgeAnswer, type Outcome, outcomes, readAnswer } from './outcome.js'
import { exitCodes, exitOf, PayerError } from './payer-error.js'

const refusedSettle = (errorReason: string) =>
  judgeAnswer({ status: 402, settleResponse: { success: false, errorReason } })

const receipts = {
  none: undefined,
  success: { success: true },
  pending: { success: false, errorReason: 'pending_burn' },
  used: { success: false, errorReason: 'already_accepted' },
  refused: { success: false, errorReason: 'challenge_expired' },
  outrun: { success: false, errorReason: 'permit_nonce_stale' },
  strange: { success: false, errorReason: 'because' },
} as const

type ReceiptName = keyof typeof receipts

const all = <T>(value: T) =>
  Object.fromEntries(Object.keys(receipts).map((name) => [name, value])) as Record<ReceiptName, T>

/** What a receipt of a failed settle says, wherever the resource did not come. */
const byReason = {
  pending: 'send_again',
  used: 'used',
  refused: 'refused',
  outrun: 'sign_again',
  strange: 'unknown',
} as const

/** Statuses of one row; the outcome with each receipt; and whether a body that breaks off makes it half. */
const rows: [number[], Record<ReceiptName, Outcome>, boolean][] = [
  [[200, 201, 206], { ...all<Outcome>('delivered'), success: 'accepted' }, true],
  [[301, 302, 307, 308], { none: 'unserved', success: 'accepted', ...byReason }, false],
  [[402, 502, 503, 504], { none: 'unknown', success: 'unknown', ...byReason }, false],
  [[400, 403, 404, 410, 429, 500], { none: 'unserved', success: 'unknown', ...byReason }, false],
]

const cells = rows.flatMap(([statuses, byReceipt, canBreak]) =>
  statuses.flatMap((status) =>
    (Object.keys(receipts) as ReceiptName[]).flatMap((receipt) =>
      [true, false].map((isComplete) => ({
        status,
        receipt,
        isComplete,
        outcome: canBreak && !isComplete ? ('half' as const) : byReceipt[receipt],
      })),
    ),
  ),
)

describe('the one table of ends', () => {
  it.each(cells)(
    'status $status, receipt $receipt, complete $isComplete is $outcome',
    ({ status, receipt, isComplete, outcome }) => {
      expect(judgeAnswer({ status, settleResponse: receipts[receipt] }, { isComplete })).toBe(outcome)
    },
  )

  it('says paid only when the resource came, pending only when the same payment is presented again', () => {
    const ends = Object.keys(outcomes).map((outcome) => [outcome, endOf(outcome as Outcome)])
    expect(Object.fromEntries(ends)).toEqual({
      accepted: 'paid',
      delivered: 'paid',
      half: 'pending',
      kept: 'pending',
      send_again: 'pending',
      unserved: 'pending',
      unknown: 'pending',
      sign_again: 'failed',
      refused: 'failed',
      used: 'failed',
    })
  })

  it('gives an error and an answer of one outcome the same exit code', () => {
    const codes = Object.entries(outcomes).map(([outcome, code]) => [
      exitCodes[code ? exitOf(new PayerError(code, '')) : 'ok'],
      exitCodes[exitAt[endOf(outcome as Outcome)]],
    ])
    for (const [ofError, ofEnd] of codes) expect(ofError).toBe(ofEnd)
    expect(new Set(codes.flat())).toEqual(new Set([0, 5, 6]))
  })

  it.each([
    [200, 0],
    [302, 0],
    [404, 5],
    [500, 5],
  ])('of a request for which nothing was signed goes by its status: %i ends with %i', (status, code) =>
    expect(exitCodes[exitAt[endUnpaid(status)]]).toBe(code),
  )
})

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
      const expected = code === 'already_accepted' ? 'used' : byRetry[retry]
      expect(refusedSettle(code)).toBe(outrun.includes(code) ? 'sign_again' : expected)
    }
  })

  it('is read the same from a failed verify, also with a message behind the reason', () => {
    const required = (error: string) => judgeAnswer({ status: 402, paymentRequired: { error } })
    expect(required('burn_not_found: no receipt yet')).toBe('send_again')
    expect(required('signer_mismatch')).toBe('refused')
  })

  it('leaves the payment open when the words are not ours', () => {
    expect(refusedSettle('constructor')).toBe('unknown')
    expect(judgeAnswer({ paymentRequired: { error: 'No matching payment requirements' } })).toBe('unknown')
    expect(judgeAnswer({ paymentRequired: {} })).toBe('unknown')
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
