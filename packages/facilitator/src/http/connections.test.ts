import { type ConnectionBounds, type Connections, limitConnections } from '@svc-zerc20/daemon'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { drip, openSocket, type RawSocket } from '../../../../test/support/raw-socket.js'
import { connectionBounds as bounds } from '../../test/connections.js'
import { createServer } from './server.js'

/** For a machine that is busy with other things; Node looks only every 30 s by itself. */
const slackMs = 3_000
const head = 'POST /verify HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 90000\r\n'

let app: ReturnType<typeof createServer>
let connections: Connections
let origin: string
const opened: RawSocket[] = []

async function listen(bounds: ConnectionBounds): Promise<void> {
  app = createServer({
    chainId: 31337,
    trustedProxies: undefined,
    bodyBytesMax: 100_000,
    connections: bounds,
    log: () => undefined,
  })
  connections = limitConnections(app.server, bounds)
  app.get('/supported', async () => ({}))
  app.get('/waits', () => new Promise(() => undefined))
  app.get('/large', async () => 'x'.repeat(8_000_000))
  app.post('/verify', async () => ({}))
  origin = await app.listen({ host: '127.0.0.1', port: 0 })
}
afterEach(async () => {
  for (const { socket } of opened.splice(0)) socket.destroy()
  await app.close()
})

async function open(from?: string): Promise<RawSocket> {
  const socket = await openSocket(origin, from)
  opened.push(socket)
  return socket
}

/** The test's own timeout is the bound. */
async function untilOpen(count: number): Promise<void> {
  while (connections.open() !== count) await new Promise((resolve) => setTimeout(resolve, 5))
}

describe('a connection', () => {
  beforeEach(() => listen(bounds))

  it('that says nothing is closed', async () => {
    expect(await (await open()).closed).toBeLessThan(bounds.headMs + slackMs)
  })

  it('whose head drips is closed with 408', async () => {
    const slow = await open()
    expect(await drip(slow, `${head}X-Padding: ${'a'.repeat(1_000)}`, 20)).toBeLessThan(
      bounds.headMs + slackMs,
    )
    expect(slow.text()).toMatch(/^HTTP\/1\.1 408 /)
  })

  it('whose body drips is closed with 408, however steadily it comes', async () => {
    const slow = await open()
    slow.socket.write(`${head}\r\n{"a":"`)
    expect(await drip(slow, 'a', 20)).toBeLessThan(bounds.requestMs + slackMs)
    expect(slow.text()).toMatch(/^HTTP\/1\.1 408 /)
  })

  it('that does not read its answers is closed', async () => {
    const deaf = await open()
    deaf.socket.pause()
    deaf.socket.write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(4))
    await untilOpen(1)
    await untilOpen(0)
  })

  it('with nothing further to ask is kept, and then closed', async () => {
    const kept = await open()
    kept.socket.write('GET /supported HTTP/1.1\r\nHost: x\r\n\r\n')
    expect(await kept.closed).toBeLessThan(bounds.keptMs + slackMs)
    expect(kept.text()).toMatch(/^HTTP\/1\.1 200 /)
  })
})

describe('the number of connections', () => {
  beforeEach(() => listen({ ...bounds, headMs: 60_000, requestMs: 60_000, silentMs: 60_000, keptMs: 60_000 }))

  const asks = 'GET /supported HTTP/1.1\r\nHost: x\r\n\r\n'
  const begun = `${head}\r\n{"a":"`

  /** An answer was heard, or the connection is closed. */
  async function heard({ socket, text }: RawSocket): Promise<string> {
    while (!text().includes('\r\n\r\n') && !socket.destroyed) {
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    return text()
  }

  async function ask(from?: string, bytes = asks): Promise<RawSocket> {
    const wire = await open(from)
    wire.socket.write(bytes)
    return wire
  }

  /** Its first request is answered, and the next one has begun. */
  async function busy(from: string, next = begun): Promise<RawSocket> {
    const wire = await ask(from, `${asks}${next}`)
    expect(await heard(wire)).toMatch(/^HTTP\/1\.1 200 /)
    return wire
  }

  it('of one caller that is busy is bounded, and another caller has room beside it', async () => {
    for (let i = 0; i < 4; i++) await busy('127.0.0.1')
    await (await open()).closed
    expect([connections.open(), connections.refused()]).toEqual([4, 1])
    expect(await heard(await ask('127.0.0.2'))).toMatch(/^HTTP\/1\.1 200 /)
  })

  it('of all callers together is bounded while all are busy', async () => {
    const waits = asks.replace('supported', 'waits')
    for (const from of ['127.0.0.2', '127.0.0.3']) for (let i = 0; i < 4; i++) await busy(from, waits)
    await (await open('127.0.0.4')).closed
    expect(connections.refused()).toBe(1)
  })

  it('leaves room for a newcomer when few callers have all of them: a request that still arrives gives way', async () => {
    const slow: RawSocket[] = []
    for (const from of ['127.0.0.2', '127.0.0.3']) for (let i = 0; i < 4; i++) slow.push(await busy(from))
    expect(await heard(await ask('127.0.0.4'))).toMatch(/^HTTP\/1\.1 200 /)
    await slow[0]?.closed
    expect(slow.filter(({ socket }) => socket.destroyed)).toHaveLength(1)
    expect([connections.open(), connections.refused()]).toEqual([8, 0])
  })

  it('leaves room for a newcomer: the oldest one that asks nothing gives way', async () => {
    const kept: RawSocket[] = []
    for (const from of ['127.0.0.2', '127.0.0.3']) {
      for (let i = 0; i < 4; i++) {
        const wire = await ask(from)
        expect(await heard(wire)).toMatch(/^HTTP\/1\.1 200 /)
        kept.push(wire)
      }
    }
    expect(await heard(await ask('127.0.0.4'))).toMatch(/^HTTP\/1\.1 200 /)
    await kept[0]?.closed
    expect(kept.filter(({ socket }) => socket.destroyed)).toHaveLength(1)
    expect([connections.open(), connections.refused()]).toEqual([8, 0])
  })

  it('and a caller that has too many gives way to itself, not to others', async () => {
    const other = await ask('127.0.0.2')
    await heard(other)
    const own: RawSocket[] = []
    for (let i = 0; i < 6; i++) {
      const wire = await ask('127.0.0.3')
      expect(await heard(wire)).toMatch(/^HTTP\/1\.1 200 /)
      own.push(wire)
    }
    await own[0]?.closed
    await own[1]?.closed
    expect([connections.open(), other.socket.destroyed]).toEqual([5, false])
  })
})
