import { SvcError } from '@svc-zerc20/protocol'
import { describe, expect, it } from 'vitest'
import { createLog } from '../../test/log.js'
import { logEvents } from './events.js'
import { mintEvents, unlinked } from './unlinked.js'

const nonce = `0x${'ab'.repeat(32)}`

describe('a mint event as it is written', () => {
  it('is every event that begins with mint, and the one of the end', () => {
    const ofMints = Object.keys(logEvents).filter((event) => /^mint\.|^payment\.finalized$/.test(event))
    expect([...mintEvents].sort()).toEqual(ofMints.sort())
  })

  it('has no nonce, neither as a field nor in the words of an error or its causes', () => {
    const lines: string[] = []
    const log = createLog({ write: (line) => void lines.push(line) })
    const cause = new Error(`no burn of ${nonce}`)
    const err = new SvcError('payment_lost', `no payment ${nonce} in the ledger`, { cause })
    log(unlinked({ event: 'mint.failed', challengeNonce: nonce, reason: 'unavailable', err }))
    log(unlinked({ event: 'mint.proving', challengeNonce: nonce, leaves: 3n, company: 1 }))
    log(unlinked({ event: 'payment.finalized', challengeNonce: nonce }))
    log(unlinked({ event: 'indexer.failed', err }))
    expect(lines).toHaveLength(4)
    expect(lines.join('')).not.toContain(nonce.slice(2))
    expect(lines[0]).toContain('payment_lost')
    expect(lines[0]).toContain('no payment 0x… in the ledger')
  })

  it('leaves everything else as it is', () => {
    const event = { event: 'payment.accepted', challengeNonce: nonce, txHash: '0x1' } as const
    expect(unlinked(event)).toBe(event)
  })
})
