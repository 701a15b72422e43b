/** Bytes on a socket that are hardly HTTP. */
import fc from 'fast-check'
import { openSocket } from '../support/raw-socket.js'

const crlf = '\r\n'
const head = (...lines: string[]) => `${lines.join(crlf)}${crlf}${crlf}`
const post = (path: string, ...headers: string[]) => head(`POST ${path} HTTP/1.1`, 'Host: x', ...headers)
const json = 'Content-Type: application/json'

const nearlyHttp = [
  '',
  crlf,
  '\0\0\0\0',
  'GET',
  'GET /supported',
  head('GET /supported HTTP/9.9', 'Host: x'),
  head('GET /supported HTTP/0.9'),
  head('GET /supported HTTP/1.1'),
  head('get /supported HTTP/1.1', 'Host: x'),
  head('G\0T /supported HTTP/1.1', 'Host: x'),
  head('GET http://[::1 HTTP/1.1', 'Host: x'),
  head('GET  /supported  HTTP/1.1', 'Host: x'),
  head('GET /sup\tported HTTP/1.1', 'Host: x'),
  head('CONNECT elsewhere.example:443 HTTP/1.1', 'Host: elsewhere.example:443'),
  head('PRI * HTTP/2.0', '', 'SM'),
  head(
    'GET /supported HTTP/1.1',
    'Host: x',
    'Upgrade: websocket',
    'Connection: Upgrade',
    'Sec-WebSocket-Key: x',
  ),
  head('GET /supported HTTP/1.1', 'Host: x', 'Host: y'),
  head('GET /supported HTTP/1.1', 'Host: x', 'no colon here'),
  head('GET /supported HTTP/1.1', 'Host: x', ': no name'),
  head('GET /supported HTTP/1.1', 'Host: x', ' folded: yes'),
  head('GET /supported HTTP/1.1', 'Host: x', 'X: a\0b'),
  head('GET /supported HTTP/1.1', 'Host: x', `X: ${'a'.repeat(20_000)}`),
  head('GET /supported HTTP/1.1', 'Host: x', ...Array.from({ length: 3_000 }, (_, i) => `X${i}: y`)),
  head(`GET /${'a'.repeat(20_000)} HTTP/1.1`, 'Host: x'),
  post('/settle', json, 'Content-Length: -1'),
  post('/settle', json, 'Content-Length: 1e3'),
  post('/settle', json, 'Content-Length: 99999999999999999999'),
  `${post('/settle', json, 'Content-Length: 5', 'Content-Length: 6')}{}   `,
  `${post('/settle', json, 'Content-Length: 50')}{"challengeNonce":`,
  `${post('/settle', json, 'Content-Length: 2', 'Transfer-Encoding: chunked')}{}`,
  `${post('/settle', json, 'Transfer-Encoding: chunked, identity')}{}`,
  `${post('/settle', json, 'Transfer-Encoding: xchunked')}{}`,
  `${post('/settle', json, 'Transfer-Encoding: chunked')}zz${crlf}{}${crlf}0${crlf}${crlf}`,
  `${post('/settle', json, 'Transfer-Encoding: chunked')}-2${crlf}{}${crlf}0${crlf}${crlf}`,
  `${post('/settle', json, 'Transfer-Encoding: chunked')}ffffffffffffffffff${crlf}{}`,
  post('/settle', json, 'Transfer-Encoding: chunked') +
    `2;${'x'.repeat(20_000)}${crlf}{}${crlf}0${crlf}${crlf}`,
  `${post('/settle', json, 'Transfer-Encoding: chunked')}2${crlf}{}${crlf}`,
  `${post('/settle', json, 'Content-Length: 2', 'Expect: the-unexpected')}{}`,
  `${post('/settle', json, 'Content-Length: 2')}{}${post('/settle', json, 'Content-Length: 2')}{}`,
  `${post('/settle', json, 'Content-Length: 2')}{}GARBAGE`,
  head('GET /supported HTTP/1.1', 'Host: x').repeat(20),
]

/** Known oddities, cut or with bytes thrown in, and noise. */
export const rawRequests: fc.Arbitrary<Buffer> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...nearlyHttp).map((text) => Buffer.from(text, 'latin1')) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.constantFrom(...nearlyHttp), fc.nat(), fc.uint8Array({ maxLength: 4 }))
      .map(([text, where, put]) => {
        const bytes = Buffer.from(text, 'latin1')
        const at = where % (bytes.length + 1)
        return Buffer.concat([bytes.subarray(0, at), Buffer.from(put), bytes.subarray(at)])
      }),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom(...nearlyHttp), fc.nat())
      .map(([text, end]) => Buffer.from(text, 'latin1').subarray(0, end % (text.length + 1))),
  },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 400 }).map((array) => Buffer.from(array)) },
)

/** Sends the bytes, ends the sending side, and returns everything that came back until the server closed. */
export async function sendRaw(origin: string, bytes: Buffer): Promise<string> {
  const { socket, closed, text } = await openSocket(origin)
  socket.end(bytes)
  await closed
  return text()
}
