import { connect, type Socket } from 'node:net'
import type { ConnectionBounds } from '@svc-zerc20/daemon'
import { afterEach, expect, test } from 'vitest'
import { limits } from '../limits.js'
import { createServer } from './server.js'

const bounds: ConnectionBounds = {
  ...limits.connections,
  headMs: 500,
  requestMs: 1_000,
  lookMs: 50,
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
  expect(limits.connections.requestMs + limits.connections.lookMs).toBeLessThan(20_000)
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

/** A connection on which the bytes were written and the first answer has come, or that was closed. */
async function answered(port: number, bytes: string, from: string): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from }, () => socket.write(bytes))
  sockets.push(socket)
  socket.on('error', () => undefined)
  await new Promise((resolve) => socket.once('data', resolve).once('close', resolve))
  return socket
}

test('more connections than the bound are closed at once while all are busy', async () => {
  const port = await listen({ ...patient, max: 2 })
  for (const from of ['127.0.0.2', '127.0.0.3']) await answered(port, `${asks}${head}\r\n{`, from)
  expect((await answered(port, asks, '127.0.0.4')).bytesRead).toBe(0)
})

test('the oldest connection that asks nothing gives way to a newcomer', async () => {
  const port = await listen({ ...patient, max: 2 })
  const oldest = await answered(port, asks, '127.0.0.2')
  const other = await answered(port, asks, '127.0.0.3')
  expect((await answered(port, asks, '127.0.0.4')).bytesRead).toBeGreaterThan(0)
  if (!oldest.destroyed) await new Promise((resolve) => oldest.once('close', resolve))
  expect(other.destroyed).toBe(false)
})

test('a caller that has too many gives way to itself, not to others', async () => {
  const port = await listen({ ...patient, perCallerMax: 1 })
  const other = await answered(port, asks, '127.0.0.2')
  const first = await answered(port, asks, '127.0.0.3')
  expect((await answered(port, asks, '127.0.0.3')).bytesRead).toBeGreaterThan(0)
  if (!first.destroyed) await new Promise((resolve) => first.once('close', resolve))
  expect(other.destroyed).toBe(false)
})
