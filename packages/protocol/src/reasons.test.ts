import { describe, expect, it } from 'vitest'
import { SvcError, unreachable } from './errors.js'
import { accept, type Reason, reasons, reject } from './reasons.js'

const rows: [string, Reason][] = Object.entries(reasons)

// Codes are part of the wire. New ones may be added anywhere; these keep their name and their order.
const published = [
  'not_found',
  'method_not_allowed',
  'unsupported_media_type',
  'body_too_large',
  'too_many_requests',
  'malformed_request',
  'invalid_amount',
  'acceptance_disabled',
  'challenge_limit',
  'address_pool_empty',
  'profile_unsupported',
  'invalid_x402_version',
  'unsupported_scheme',
  'malformed_payload',
  'unknown_challenge',
  'requirements_mismatch',
  'already_accepted',
  'challenge_claimed',
  'challenge_expired',
  'permit_not_offered',
  'value_mismatch',
  'deadline_mismatch',
  'deadline_passed',
  'contract_payer',
  'invalid_signature',
  'signer_mismatch',
  'permit_nonce_in_use',
  'permit_nonce_stale',
  'insufficient_funds',
  'burn_not_found',
  'burn_reverted',
  'burn_mismatch',
  'burn_underpaid',
  'burn_split',
  'burn_not_held',
  'burn_failed',
  'pending_burn',
  'relayer_busy',
  'chain_unavailable',
  'internal_error',
]

describe('the table of reasons', () => {
  it('keeps every published code, in its order of precedence', () => {
    expect(Object.keys(reasons).filter((code) => published.includes(code))).toEqual(published)
  })

  it.each(rows)('%s has a help of one line, a retry and a status', (code, { help, retry, status }) => {
    expect(code).toMatch(/^[a-z][a-z0-9_]*$/)
    expect(help).toMatch(/^[^\n]{10,120}\.$/)
    expect(['never', 'fresh_offer', 'same_payload', 'later']).toContain(retry)
    expect([200, 400, 401, 403, 404, 405, 409, 413, 415, 429, 500, 503]).toContain(status)
  })

  it('says every verdict about a payment with status 200, because the middleware drops the rest', () => {
    const verdicts = rows.slice(rows.findIndex(([code]) => code === 'profile_unsupported'))
    const others = verdicts.filter(([, { status }]) => status !== 200).map(([code]) => code)
    expect(others).toEqual(['relayer_busy', 'storage_unavailable', 'chain_unavailable', 'internal_error'])
  })

  it('asks for the same payload again after pending_burn', () => {
    expect(reasons.pending_burn.retry).toBe('same_payload')
  })
})

describe('results', () => {
  it('carry a value or a reason with its help as the message', () => {
    expect(accept(1)).toEqual({ ok: true, value: 1 })
    expect(reject('challenge_expired')).toEqual({
      ok: false,
      reason: 'challenge_expired',
      message: reasons.challenge_expired.help,
    })
    expect(reject('malformed_payload', 'payer: not a 20-byte address').message).toBe(
      'payer: not a 20-byte address',
    )
  })

  it('leave errors for the faults of the world, with a code and the cause', () => {
    const cause = new Error('connection refused')
    const error = new SvcError('rpc_unreachable', 'the chain is gone', { cause })
    expect(error).toBeInstanceOf(Error)
    expect(error).toMatchObject({
      name: 'SvcError',
      code: 'rpc_unreachable',
      message: 'the chain is gone',
      cause,
    })
    expect(() => unreachable('new' as never)).toThrow('unexpected value "new"')
  })
})
