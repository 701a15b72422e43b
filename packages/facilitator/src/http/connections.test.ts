import http from 'node:http'
import { type ConnectionBounds, type Connections, limitConnections } from '@svc-zerc20/daemon'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { drip, openSocket, type RawSocket } from '../../../../test/support/raw-socket.js'
import { connectionBounds as bounds } from '../../test/connections.js'
import { limits } from '../config/limits.js'
import { refuseConnections } from './request-hooks.js'
import { createServer } from './server.js'

/** For a machine that is busy with other things; Node looks only every 30 s by itself. */
const slackMs = 3_000
const head = 'POST /verify HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 90000\r\n'

let app: ReturnType<typeof createServer>
let connections: Connections
let origin: string
const opened: RawSocket[] = []
/** Requests that reached a handler, and how many of them were at work together at most. */
let begun = 0
let atWork = 0
let atWorkMax = 0
let letGo: () => void = () => undefined

async function listen(bounds: ConnectionBounds): Promise<void> {
  app = createServer({
    chainId: 31337,
    trustedProxies: undefined,
    bodyBytesMax: 100_000,
    connections: bounds,
    log: () => undefined,
  })
  connections = limitConnections(app.server, bounds)
  refuseConnections(app, {
    connections,
    isKnown: ({ headers }) => headers.authorization === 'Bearer known',
  })
  ;[begun, atWork, atWorkMax] = [0, 0, 0]
  app.addHook('onRequest', async () => {
    begun += 1
    atWork += 1
    atWorkMax = Math.max(atWorkMax, atWork)
  })
  app.addHook('onResponse', async () => {
    atWork -= 1
  })
  const waits = new Promise<void>((resolve) => {
    letGo = resolve
  })
  app.get('/supported', async () => ({}))
  app.get('/waits', async () => waits.then(() => ({})))
  app.get('/large', async () => 'x'.repeat(8_000_000))
  app.post('/verify', async ({ body }) => body)
  origin = await app.listen({ host: '127.0.0.1', port: 0, backlog: limits.listenBacklog })
}
afterEach(async () => {
  letGo()
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
    // The second answer was never made.
    expect(begun).toBe(1)
  })

  it('with nothing further to ask is kept, and then closed', async () => {
    const kept = await open()
    kept.socket.write('GET /supported HTTP/1.1\r\nHost: x\r\n\r\n')
    expect(await kept.closed).toBeLessThan(bounds.keptMs + slackMs)
    expect(kept.text()).toMatch(/^HTTP\/1\.1 200 /)
  })
})

const patient = { ...bounds, headMs: 300_000, requestMs: 300_000, silentMs: 300_000, keptMs: 300_000 }
const asks = 'GET /supported HTTP/1.1\r\nHost: x\r\n\r\n'
const waits = asks.replace('supported', 'waits')

/** As many answers were heard, or the connection is closed. */
async function heard({ socket, text }: RawSocket, count = 1): Promise<string> {
  while (text().split('HTTP/1.1 ').length <= count && !socket.destroyed) {
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  return text()
}

async function ask(from?: string, bytes = asks): Promise<RawSocket> {
  const wire = await open(from)
  wire.socket.write(bytes)
  return wire
}

async function statusOf(wire: RawSocket): Promise<string> {
  return (await heard(wire)).slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length)
}

describe('requests that follow each other on one connection without waiting', () => {
  beforeEach(() => listen(patient))

  it('wait as bytes while the first is at work', async () => {
    const wire = await ask(undefined, waits.repeat(1_000))
    while (begun === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    // Another caller's request comes and goes after all that Node has read.
    expect(await statusOf(await ask('127.0.0.2'))).toBe('200')
    expect(begun).toBe(2)
    letGo()
    await heard(wire, 1_000)
    expect(begun).toBe(1_001)
  })

  const posts = (text: string) => {
    const body = JSON.stringify({ text })
    return [
      `POST /verify HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      'POST /verify HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n' +
        `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
    ]
  }

  it.each([1, 7, 64, 100_000])(
    'are answered in order, one at a time, in pieces of %i bytes',
    async (size) => {
      const bodies = ['a', 'b'.repeat(300), 'c\\r\\n\\r\\n', 'd']
      const bytes = bodies.flatMap(posts).join(asks)
      const wire = await open()
      wire.socket.setNoDelay(true)
      for (let at = 0; at < bytes.length; at += size) {
        await new Promise((resolve) => wire.socket.write(bytes.slice(at, at + size), resolve))
      }
      const answers = (await heard(wire, 15)).matchAll(/(\{[^\n]*?\})(?=HTTP|$)/g)
      const expected = bodies.flatMap((text) => [{ text }, {}, { text }, {}]).slice(0, 15)
      expect([...answers].map(([json]) => JSON.parse(json))).toEqual(expected)
      expect(atWorkMax).toBe(1)
    },
  )

  it('bring the smallest chunks of a body a few at a time, so that others come in between', async () => {
    let [pieces, piecesMax] = [0, 0]
    app.server.on('request', (request) => {
      const push = request.push.bind(request)
      request.push = (piece) => {
        if (pieces === 0) setImmediate(() => (pieces = 0))
        pieces += 1
        piecesMax = Math.max(piecesMax, pieces)
        return push(piece)
      }
    })
    const body = JSON.stringify({ text: 'a'.repeat(30_000) })
    const chunks = [...body].map((byte) => `1\r\n${byte}\r\n`).join('')
    const [, chunked = ''] = posts('')
    const wire = await ask(
      undefined,
      `${chunked.slice(0, chunked.indexOf('\r\n\r\n') + 4)}${chunks}0\r\n\r\n`,
    )
    while (!wire.text().endsWith('"}')) await new Promise((resolve) => setTimeout(resolve, 5))
    expect(wire.text()).toContain(body)
    expect(piecesMax).toBeLessThan(50)
  })

  it('are not begun any more when the first one breaks off', async () => {
    const wire = await ask(undefined, waits.repeat(100))
    while (begun === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    wire.socket.destroy()
    letGo()
    await untilOpen(0)
    expect(await statusOf(await ask())).toBe('200')
    expect(begun).toBe(2)
  })
})

describe('the number of connections', () => {
  beforeEach(() => listen(patient))
  const begins = `${head}\r\n{"a":"`

  it('of one caller is a fifth of all, and the next is told to come back', async () => {
    for (let i = 0; i < 4; i++) await ask('127.0.0.2', waits)
    await untilOpen(4)
    const refused = await ask('127.0.0.2', `${begins}${'a'.repeat(20_000)}`)
    const answer = await heard(refused)
    expect(answer).toMatch(/^HTTP\/1\.1 503 .*retry-after: 5\r\n/s)
    expect(JSON.parse(answer.slice(answer.indexOf('{')))).toMatchObject({ invalidReason: 'overloaded' })
    await refused.closed
    expect([connections.open(), connections.refused()]).toEqual([4, 1])
    expect(await statusOf(await ask('127.0.0.3'))).toBe('200')
  })

  it('leaves room for others, however many callers with slow requests there are', async () => {
    for (let caller = 2; caller < 8; caller++) {
      for (let i = 0; i < 4; i++) await ask(`127.0.0.${caller}`, begins)
    }
    while (connections.refused() < 8) await new Promise((resolve) => setTimeout(resolve, 5))
    expect(connections.open()).toBe(16)
    expect(await statusOf(await ask('127.0.0.9'))).toBe('200')
  })

  it('is no bound for a caller who is known', async () => {
    for (let i = 0; i < 4; i++) await ask('127.0.0.2', waits)
    await untilOpen(4)
    const known = asks.replace('\r\n\r\n', '\r\nAuthorization: Bearer known\r\n\r\n')
    const wire = await ask('127.0.0.2', known)
    expect(await statusOf(wire)).toBe('200')
    // The connection stays, and its next request is served, too.
    wire.socket.write(known)
    expect(await heard(wire, 2)).toMatch(/200 OK.*200 OK/s)
  })

  it('of those who are turned away is bounded, too, and so is the time for their request', async () => {
    for (let i = 0; i < 4; i++) await ask('127.0.0.2', waits)
    await untilOpen(4)
    const silent = [await open('127.0.0.2'), await open('127.0.0.2')]
    const further = await open('127.0.0.2')
    expect(await heard(further)).toMatch(/^HTTP\/1\.1 503 .*retry-after: 5\r\n.*"overloaded"/s)
    await further.closed
    expect(silent.map(({ socket }) => socket.destroyed)).toEqual([false, false])
    await Promise.all(silent.map(({ closed }) => closed))
    while (connections.refused() < 3) await new Promise((resolve) => setTimeout(resolve, 5))
    expect(connections.open()).toBe(4)
  })
})

it('seven hundred requests that one address sends at once are all answered', async () => {
  await listen({ ...patient, max: limits.connectionsMax })
  const wires = await Promise.all(Array.from({ length: 700 }, () => ask('127.0.0.2', waits)))
  while (begun < wires.length) await new Promise((resolve) => setTimeout(resolve, 5))
  letGo()
  const statuses = await Promise.all(wires.map(statusOf))
  expect(new Set(statuses)).toEqual(new Set(['200']))
})

it('every one of two thousand requests that come at once is answered, those far beyond the bounds with 503', async () => {
  await listen({ ...patient, max: 100, sentAwayMax: 2_000, turnedAwayMs: 600_000 })
  const agent = new http.Agent({ keepAlive: true, maxSockets: 2_000 })
  const answers = Array.from(
    { length: 2_000 },
    () =>
      new Promise<string>((resolve) => {
        const post = { method: 'POST', agent, headers: { 'content-type': 'application/json' } }
        const request = http.request(`${origin}/verify`, post, (response) => {
          response
            .resume()
            .on('end', () => resolve(`${response.statusCode} ${response.headers['retry-after']}`))
        })
        request.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
        request.end(JSON.stringify({ text: 'x'.repeat(2_000) }))
      }),
  )
  const counts = new Map<string, number>()
  for (const answer of await Promise.all(answers)) counts.set(answer, (counts.get(answer) ?? 0) + 1)
  agent.destroy()
  expect([...counts.keys()].sort()).toEqual(['200 undefined', '503 5'])
  expect(counts.get('503 5')).toBeGreaterThan(1_000)
})

it('a request with two Host headers is malformed, and ends its connection', async () => {
  await listen(patient)
  const wire = await ask(undefined, asks.replace('\r\n\r\n', '\r\nhOST: y\r\n\r\n'))
  expect(await heard(wire)).toMatch(/^HTTP\/1\.1 400 .*"malformed_request"/s)
  await wire.closed
})
