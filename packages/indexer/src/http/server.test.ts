import { connect, type Socket } from 'node:net'
import type { ConnectionBounds } from '@svc-zerc20/daemon'
import { afterEach, expect, test } from 'vitest'
import { limits } from '../limits.js'
import { createServer } from './server.js'

const bounds: ConnectionBounds = {
  ...limits.connections,
  headMs: 500,
  requestMs: 1_000,
  pollMs: 50,
  silentMs: 1_000,
}
/** For a machine that is busy with other things; Node looks only every 30 s by itself. */
const slackMs = 3_000
const head = 'POST /proofs HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9000\r\n'

let app: ReturnType<typeof createServer> | undefined
const sockets: Socket[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await app?.close()
})

async function listen(changes: Partial<ConnectionBounds> = {}): Promise<number> {
  app = createServer({ log: () => undefined, bounds: { ...bounds, ...changes } })
  app.post('/proofs', async () => [])
  return Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port)
}

/**
 * Writes the beginning at once and the rest byte by byte. Returns the milliseconds until the server hangs up.
 */
function lifeOf(port: number, beginning: string, rest: string): Promise<number> {
  const socket = connect(port, '127.0.0.1', () => socket.write(beginning))
  sockets.push(socket)
  const openedAt = performance.now()
  let at = 0
  const dripping = setInterval(
    () => socket.writable && rest && socket.write(rest[at++ % rest.length] ?? ''),
    20,
  )
  socket.on('error', () => undefined)
  socket.resume()
  return new Promise((resolve) => {
    socket.once('close', () => {
      clearInterval(dripping)
      resolve(performance.now() - openedAt)
    })
  })
}

test('what is stated for a whole request holds with the pause between two looks', () => {
  expect(limits.connections.requestMs + limits.connections.pollMs).toBeLessThan(20_000)
})

test.each([
  ['silence', '', '', bounds.headMs],
  ['a head that drips', '', `${head}X: ${'a'.repeat(1_000)}`, bounds.headMs],
  ['a body that drips', `${head}\r\n`, 'a', bounds.requestMs],
])('%s ends the connection', async (_what, beginning, rest, boundMs) => {
  expect(await lifeOf(await listen(), beginning, rest)).toBeLessThan(boundMs + slackMs)
})

const patient = { headMs: 60_000, requestMs: 60_000, silentMs: 60_000 }
const asks = 'GET /proofs HTTP/1.1\r\nHost: x\r\n\r\n'

/** What comes first on a connection after the bytes were written. */
async function textOf(port: number, bytes: string, from: string): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from }, () => socket.write(bytes))
  sockets.push(socket)
  return new Promise((resolve, reject) =>
    socket.once('data', (text) => resolve(text.toString())).once('error', reject),
  )
}

/** A connection on which the bytes were written and the first answer has come, or that was closed. */
async function answered(port: number, bytes: string, from: string): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from }, () => socket.write(bytes))
  sockets.push(socket)
  socket.on('error', () => undefined)
  await new Promise((resolve) => socket.once('data', resolve).once('close', resolve))
  return socket
}

test('a caller that has its share of the connections is told to come back, and others are served', async () => {
  const port = await listen({ ...patient, max: 6 })
  const begins = `${asks}${head}\r\n{`
  for (let i = 0; i < 2; i++) await answered(port, begins, '127.0.0.2')
  const texts = await Promise.all(['127.0.0.2', '127.0.0.3'].map((from) => textOf(port, asks, from)))
  expect(texts[0]).toMatch(/^HTTP\/1\.1 503 .*retry-after: 5\r\n.*too many connections$/s)
  expect(texts[1]).toMatch(/^HTTP\/1\.1 404 /)
})

test('a request with two Host headers is refused', async () => {
  const port = await listen(patient)
  expect(await textOf(port, asks.replace('Host', 'Host: y\r\nHost'), '127.0.0.2')).toMatch(/^HTTP\/1\.1 400 /)
})
