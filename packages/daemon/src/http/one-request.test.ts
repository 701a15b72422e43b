import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { serveOneRequestAtATime } from './one-request.js'

const stops: (() => void)[] = []

afterEach(() => {
  for (const stop of stops.splice(0)) stop()
})

/** A server that answers when it is told to, and a connection whose every write is one read of the server. */
async function setUp() {
  const begun: {
    readonly url: string | undefined
    readonly body: string
    readonly response: ServerResponse
  }[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const piece of request) body += piece
    begun.push({ url: request.url, body, response })
  })
  serveOneRequestAtATime(server)
  let received = 0
  let line: Socket | undefined
  server.on('connection', (socket: Socket) => {
    line = socket
    socket.prependListener('data', (bytes: Buffer) => {
      received += bytes.length
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').setNoDelay(true)
  stops.push(() => {
    socket.destroy()
    server.close()
  })
  let sent = 0
  return {
    urls: () => begun.map(({ url }) => url),
    bodies: () => begun.map(({ body }) => body),
    answer: (index: number) => begun[index]?.response.end('ok'),
    /** Resolves once the server has read the text, or has stopped reading. */
    async write(text: string) {
      sent += text.length
      socket.write(text, 'latin1')
      while (received < sent && !line?.isPaused()) await turn()
    },
  }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** Long enough for the server to begin whatever it would begin. */
async function turns() {
  for (let i = 0; i < 20; i += 1) await turn()
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`

describe('a connection', () => {
  const two = get('/1') + get('/2')
  const headLength = get('/1').length

  it.each(Array.from({ length: headLength + 2 }, (_, at) => at))(
    'has one request at work when its bytes are split after %i',
    async (at) => {
      const { urls, write, answer } = await setUp()
      if (at > 0) await write(two.slice(0, at))
      await write(two.slice(at))
      await turns()
      expect(urls()).toEqual(['/1'])
      answer(0)
      while (urls().length < 2) await turn()
      expect(urls()).toEqual(['/1', '/2'])
    },
  )

  it('has one request at work when every byte comes alone', async () => {
    const { urls, write, answer } = await setUp()
    for (const byte of get('/1')) await write(byte)
    while (urls().length < 1) await turn()
    await write(get('/2') + get('/3'))
    await turns()
    expect(urls()).toEqual(['/1'])
    answer(0)
    while (urls().length < 2) await turn()
    await turns()
    expect(urls()).toEqual(['/1', '/2'])
  })

  it.each([
    ['a length', 'Content-Length: 8', 'ab\r\n\r\ncd', 'ab\r\n\r\ncd'],
    ['chunks', 'Transfer-Encoding: chunked', '6\r\nab\r\n\r\n\r\n2\r\ncd\r\n0\r\n\r\n', 'ab\r\n\r\ncd'],
  ])('has one request at work however a body with %s is split', async (_, header, wire, body) => {
    const post = `POST /1 HTTP/1.1\r\nHost: a\r\n${header}\r\n\r\n${wire}`
    const both = post + get('/2')
    for (let at = post.length - wire.length - 3; at < post.length + 3; at += 1) {
      const { urls, bodies, write, answer } = await setUp()
      await write(both.slice(0, at))
      await write(both.slice(at))
      while (urls().length < 1) await turn()
      await turns()
      expect(urls(), `split after ${at}`).toEqual(['/1'])
      expect(bodies()).toEqual([body])
      answer(0)
      while (urls().length < 2) await turn()
      expect(urls()).toEqual(['/1', '/2'])
    }
  })
})
