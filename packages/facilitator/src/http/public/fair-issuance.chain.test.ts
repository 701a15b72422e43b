import { createHash } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { openSocket } from '../../../../../test/support/raw-socket.js'
import { until } from '../../../../../test/support/until.js'
import { postFrom } from '../../../test/from-address.js'
import { startNetwork, type TestNetwork } from '../../../test/network.js'

const poolSize = 128
const openMax = 40
/** So much work that a flood is always ahead of the refill, and so little that a pool is soon full. */
const powBits = 8
const token = '5e'.repeat(32)
const asShop = { authorization: `Bearer ${token}` }
const shop = {
  name: 'shop',
  token_sha256: createHash('sha256').update(token).digest('hex'),
  max_open_challenges: 10,
  challenge_per_key_per_min: 100,
}
const bakeryToken = 'ba'.repeat(32)
const asBakery = { authorization: `Bearer ${bakeryToken}` }
const bakery = {
  name: 'bakery',
  token_sha256: createHash('sha256').update(bakeryToken).digest('hex'),
  max_open_challenges: 4,
}
const bytes =
  'POST /challenge HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 14\r\n\r\n{"amount":"1"}'
const stranger = (number: number) => `127.0.1.${number}`

let net: TestNetwork
/** Everything expires, and every rate begins again. */
afterEach(() => net.clock.advance(301_000))

const issue = (from: string, headers: Record<string, string> = {}) =>
  postFrom(from, `${net.facilitatorUrl}/challenge`, { amount: '1' }, headers)

type Status = { addresses: { ready: number }; challenges: { open: number } }
async function status(): Promise<Status> {
  const headers = { authorization: `Bearer ${net.adminToken}` }
  return (await net.send('/admin/status', { headers })).body as unknown as Status
}
const ready = async () => (await status()).addresses.ready
/** Asks rarely: asking all the time would keep the processor from mining. */
const untilFull = () => until(async () => (await ready()) >= poolSize, { everyMs: 200 })

describe('the pool of addresses', () => {
  beforeAll(async () => {
    net = await startNetwork({
      config: {
        daemon: { rate_limit_per_min: 120, challenge_per_key_per_min: 20, max_open_challenges: 10_000 },
        zerc20: { pow_bits: powBits, pool_size: poolSize },
        sellers: [shop],
      },
    })
  })
  afterAll(() => net.close())

  it('serves a seller at once while sixteen callers want more than it has', async () => {
    await untilFull()
    const flood = Array.from({ length: 16 * 20 }, (_, at) => issue(stranger(at % 16)))
    await flood[0]
    const ofShop = await Promise.all(Array.from({ length: poolSize / 4 }, () => issue('127.0.0.1', asShop)))
    expect(ofShop.map((answer) => answer.status)).toEqual(Array(poolSize / 4).fill(200))
    const statuses = (await Promise.all(flood)).map((answer) => answer.status)
    expect(statuses.filter((code) => code !== 200 && code !== 503)).toEqual([])
  })

  it('loses nothing to callers that hang up without waiting for their answer', async () => {
    await untilFull()
    const { open } = (await status()).challenges
    for (let caller = 0; caller < 100; caller++) {
      const { socket, closed } = await openSocket(net.facilitatorUrl, stranger(100 + caller))
      socket.write(bytes)
      socket.destroy()
      await closed
    }
    // All of them were heard before the next one is.
    expect((await issue(stranger(99))).status).toBe(200)
    expect((await status()).challenges.open).toBe(open + 1)
    expect(await ready()).toBeGreaterThanOrEqual(poolSize - 1)
  })

  it('loses nothing to callers that hang up while they wait', async () => {
    await untilFull()
    const { open } = (await status()).challenges
    const pipelined = await openSocket(net.facilitatorUrl, stranger(200))
    const others = await Promise.all(
      Array.from({ length: 15 }, (_, at) => openSocket(net.facilitatorUrl, stranger(201 + at))),
    )
    for (const { socket } of [pipelined, ...others]) socket.write(bytes.repeat(20))
    await until(async () => (await status()).challenges.open >= open + poolSize / 2)
    for (const { socket } of [pipelined, ...others]) socket.destroy()
    await Promise.all([pipelined, ...others].map(({ closed }) => closed))
    const atHangUp = (await status()).challenges.open
    await untilFull()
    // Addresses mined since then stayed, but for one of each connection: the answer that was being written just then.
    expect((await status()).challenges.open - atHangUp).toBeLessThanOrEqual(1 + others.length)
  })
})

describe('open challenges', () => {
  beforeAll(async () => {
    net = await startNetwork({
      config: {
        daemon: { rate_limit_per_min: 120, challenge_per_key_per_min: 20, max_open_challenges: openMax },
        sellers: [shop, bakery],
      },
    })
  })
  afterAll(() => net.close())
  it('of strangers, however many, leave a seller its own; and a seller has no more than the cap', async () => {
    const codes: number[] = []
    for (let caller = 0; caller < openMax; caller++) codes.push((await issue(stranger(caller))).status)
    expect(codes.filter((code) => code === 200)).toHaveLength(openMax - 10 - 4)
    expect(await issue(stranger(99))).toMatchObject({ status: 503, body: { reason: 'challenge_limit' } })
    for (let asked = 0; asked < 10; asked++) expect((await issue('127.0.0.1', asShop)).status).toBe(200)
    expect((await issue('127.0.0.1', asShop)).status).toBe(503)
    for (let asked = 0; asked < 4; asked++) {
      expect((await issue('127.0.0.1', asBakery)).status).toBe(200)
    }
    expect((await issue('127.0.0.1', asBakery)).status).toBe(503)
  })

  it('are there for one stranger up to its rate, and a made-up token makes it no seller', async () => {
    const guess = { authorization: `Bearer ${'00'.repeat(32)}` }
    const codes: number[] = []
    for (let asked = 0; asked < 21; asked++) codes.push((await issue(stranger(1), guess)).status)
    expect(codes).toEqual([...Array(20).fill(200), 429])
    const told = net.events.filter(({ event }) => event === 'seller.unknown_token')
    expect(told).toEqual(Array(21).fill({ event: 'seller.unknown_token', caller: stranger(1) }))
    const headers = { authorization: `Bearer ${net.adminToken}` }
    const { text } = await net.send('/admin/metrics', { headers })
    expect(text).toContain('svc_events_total{event="seller.unknown_token"} 21')
  })

  it('with one caller only, the cap is the cap', async () => {
    const small = await startNetwork({
      config: { daemon: { max_open_challenges: 12, challenge_per_key_per_min: 20 } },
    })
    try {
      const codes: number[] = []
      for (let asked = 0; asked < 13; asked++) {
        codes.push((await small.post('/challenge', { amount: '1' })).status)
      }
      expect(codes).toEqual([...Array(12).fill(200), 503])
    } finally {
      await small.close()
    }
  })
})
