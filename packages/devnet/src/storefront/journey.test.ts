import { createServer } from 'node:http'
import { expect, it, onTestFinished } from 'vitest'
import { listenOnLoopback } from '../node/rpc/loopback.js'
import { createJourneys } from './journey.js'

const nonce = `0x${'ab'.repeat(32)}`
const claimed = { challengeNonce: nonce, amount: '1000', payTo: '0x01', issuedAt: 100, claimed: true }
const burned = { ...claimed, acceptedAt: 102, burn: { from: '0x02', leafIndex: '0', transaction: '0x03' } }

it('a step keeps its time: the root was there when the proof began, which is told only while it is made', async () => {
  let told: object = { payment: burned, timeline: [] }
  const server = createServer((request, response) =>
    response.end(JSON.stringify(request.url === '/status' ? [{ onchain_proved_index: 1 }] : told)),
  )
  const { port, close } = await listenOnLoopback(server, 0)
  onTestFinished(close)
  const url = `http://127.0.0.1:${port}`
  const journeys = createJourneys({ facilitatorUrl: url, indexerUrl: url, adminToken: 'token' })
  const root = async () => (await journeys.of(nonce))?.steps.root

  expect(await root()).toEqual({ state: 'done' })
  told = { payment: { ...burned, waiting: { reason: 'proving', since: 107 } }, timeline: [] }
  expect(await root()).toEqual({ state: 'done', at: 107 })
  told = { payment: { ...burned, finalizedAt: 120 }, timeline: [{ at: 110, event: 'mint_signed' }] }
  expect(await root()).toEqual({ state: 'done', at: 107 })
})
