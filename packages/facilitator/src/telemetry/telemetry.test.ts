import { SvcError } from '@svc-zerc20/protocol'
import { describe, expect, it } from 'vitest'
import { createLog } from '../../test/log.js'
import { logEvents } from './events.js'
import { createTelemetry, unlinked } from './telemetry.js'

const nonce = `0x${'ab'.repeat(32)}`

it('adds up what gas cost since the start, by purpose, and counts it from 0 on', async () => {
  const { log, spent, metrics, close } = createTelemetry({ log: () => undefined })
  const of = async (purpose: string) =>
    (await metrics.render()).match(
      new RegExp(`^svc_relayer_spent_wei_total{purpose="${purpose}"} (\\d+)$`, 'm'),
    )?.[1]
  expect(await of('burn')).toBe('0')
  const mined = (purpose: 'burn' | 'mint', wei: bigint) =>
    log({ event: 'relayer.mined', txNonce: 1, purpose, gas: 1n, wei })
  mined('burn', 5n)
  mined('mint', 100n)
  mined('burn', 8n)
  expect(spent()).toMatchObject({
    burn: { transactions: 2, gas: 2n, wei: 13n },
    mint: { transactions: 1, gas: 1n, wei: 100n },
    sweep: { transactions: 0, gas: 0n, wei: 0n },
  })
  expect([await of('burn'), await of('mint'), await of('sweep')]).toEqual(['13', '100', '0'])
  close()
})

describe('a mint event as it is written', () => {
  it('names neither a payment nor a transaction', () => {
    const ofMints = Object.entries(logEvents).filter(([event]) =>
      /^(mint|batch)\.|^payment\.finalized$/.test(event),
    )
    expect(ofMints.length).toBeGreaterThan(5)
    const fields = ofMints.flatMap(([, row]) => Object.keys(row.fields))
    expect(fields.filter((name) => /nonce|hash|address/i.test(name))).toEqual([])
  })

  it('has no nonce in the words of an error or its causes', () => {
    const lines: string[] = []
    const log = createLog({ write: (line) => void lines.push(line) })
    const cause = new Error(`no burn of ${nonce}`)
    const err = new SvcError('payment_lost', `no payment ${nonce} in the ledger`, { cause })
    log(unlinked({ event: 'mint.failed', reason: 'unavailable', err }))
    log(unlinked({ event: 'batch.failed', payments: 2, reason: 'unavailable', err }))
    log(unlinked({ event: 'indexer.failed', err }))
    expect(lines).toHaveLength(3)
    expect(lines.join('')).not.toContain(nonce.slice(2))
    expect(lines[0]).toContain('payment_lost')
    expect(lines[0]).toContain('no payment 0x… in the ledger')
  })

  it('leaves everything else as it is', () => {
    const event = { event: 'payment.accepted', challengeNonce: nonce, txHash: '0x1', amount: 1n } as const
    expect(unlinked(event)).toBe(event)
  })
})
