/** Logs a daemon from start to end and checks that the log has no secret and does not show what people bought. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { developmentRoles } from '@svc-zerc20/devnet'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../../../test/support/until.js'
import { createLog } from '../../test/log.js'
import { startNetwork, type TestNetwork } from '../../test/network.js'
import { logEvents } from './events.js'

let net: TestNetwork
const lines: string[] = []
const marker = 'a-word-that-stands-in-bodies-only'
const secrets: string[] = []

beforeAll(async () => {
  net = await startNetwork()
  const log = createLog({ write: (line) => void lines.push(line) })
  const payer = await net.account({ gas: true })
  const good = await net.permitPayment(payer)
  secrets.push(
    net.adminToken,
    developmentRoles.treasury.privateKey.slice(2),
    developmentRoles.relayer.privateKey.slice(2),
    good.payload.burnAuthSig.slice(2),
    good.payload.permit.r.slice(2),
    good.payload.permit.s.slice(2),
    marker,
  )
  const bearer = { authorization: `Bearer ${net.adminToken}` }
  await net.settle({ ...good.body, [marker]: marker })
  await net.post('/challenge', { amount: marker, [marker]: '1' })
  await net.post('/challenge', `{"${marker}`)
  await net.send(`/${marker}?token=${net.adminToken}`)
  await net.send('/admin/pause', { method: 'POST', headers: bearer })
  await net.send('/admin/resume', { method: 'POST', headers: bearer })
  const under = await net.challenge()
  const small = await net.transfer(payer, under.payTo, '1')
  await net.settle({ challengeNonce: under.challengeNonce, burnTxHash: small, [marker]: marker })
  net.chain.setFaults([{ method: '*', kind: 'httpStatus', status: 500 }])
  const other = await net.permitPayment(payer, '10', { nonce: 1n })
  secrets.push(other.payload.burnAuthSig.slice(2))
  await net.settle(other.body)
  await net.verify(other.body)
  net.chain.setFaults([])
  for (const event of net.events) log(event)
})
afterAll(() => net.close())

describe('the log', () => {
  it('is one JSON object a line, with a time, a level and an event of the table', () => {
    expect(lines.length).toBeGreaterThan(8)
    for (const line of lines) {
      const entry = JSON.parse(line) as { event: string; time: string; level: number }
      expect(Object.keys(logEvents)).toContain(entry.event)
      expect(new Date(entry.time).toISOString()).toBe(entry.time)
      expect(entry.level).toBeGreaterThan(0)
    }
  })

  it('has an entry for what happened', () => {
    const events = new Set(lines.map((line) => (JSON.parse(line) as { event: string }).event))
    for (const event of ['challenge.issued', 'payment.accepted', 'burn.unmatched', 'issuance.paused']) {
      expect(events).toContain(event)
    }
  })

  it('has no key, no token, no signature and nothing of a body', () => {
    const text = lines.join('').toLowerCase()
    for (const secret of secrets) expect(text).not.toContain(secret.toLowerCase())
  })
})

describe('the log of a daemon whose node fails again and again', () => {
  it('grows by a few lines a payment, not by a stack for every failure', async () => {
    const daemon = await startNetwork({ daemon: true })
    try {
      const payments = await Promise.all(
        Array.from({ length: 4 }, async () => daemon.permitPayment(await daemon.account())),
      )
      const written = () => readFileSync(join(daemon.directory, 'facilitator.log'), 'utf8')
      const before = written().length
      daemon.chain.setFaults([{ method: 'eth_getBlockByNumber', kind: 'httpStatus', status: 500, times: 9 }])
      // The payload is sent again until it is answered, as resource servers do.
      const isAnswered = async (body: unknown) => {
        const { success, errorReason } = (await daemon.settle(body)).body
        return success || errorReason === 'already_accepted'
      }
      await Promise.all(payments.map(({ body }) => until(() => isAnswered(body))))
      daemon.chain.setFaults([])
      // All failures are counted, although few are written.
      const metrics = (await daemon.admin('/metrics')).text
      const failures = Number(/^svc_rpc_failures_total (\d+)$/m.exec(metrics)?.[1])
      expect(failures).toBeGreaterThan(6)
      const added = written().slice(before)
      expect(added).toContain('payment.accepted')
      expect(added.length / payments.length).toBeLessThan(4_000)
      expect(added.split('"event":"rpc.failed"').length - 1).toBeLessThan(4)
    } finally {
      await daemon.close()
    }
  })
})
