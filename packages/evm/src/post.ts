/**
 * One POST to an RPC endpoint, within bounds. Every round trip of daemons and payers goes through it. Nothing that it
 * throws or hands on shows the URL's credentials or a key in its path: nodes and proxies repeat them in their words.
 */
import http from 'node:http'
import https from 'node:https'
import { SvcError } from '@svc-zerc20/protocol'

export type Posted = { readonly status: number | undefined; readonly text: string }

export type Post = {
  /** The whole answer. Throws `SvcError('rpc_unreachable')`, as it does when the answer is not whole within `timeoutMs`. */
  send(body: string, timeoutMs: number): Promise<Posted>
  /** The error for an answer that is none. */
  unreachable(why: string, cause?: unknown): SvcError
  /** Aborts what is under way. Later calls throw. */
  close(): void
}

export function createPost(deps: { readonly url: string; readonly answerBytesMax: number }): Post {
  const url = new URL(deps.url)
  const transport = url.protocol === 'https:' ? https : http
  const agent = new transport.Agent({ keepAlive: true, maxSockets: 64 })
  // URLs write IPv6 addresses in brackets, sockets do not.
  const hostname = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const authorization = url.username
    ? `Basic ${Buffer.from(`${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`).toString('base64')}`
    : undefined
  const hide = createHide(url)
  let isClosed = false

  const unreachable = (why: string, cause?: unknown) =>
    new SvcError('rpc_unreachable', `the RPC at ${url.host} ${why}`, { cause })

  // The length of the body is added by the request, which gets it in one piece.
  const options = {
    protocol: url.protocol,
    hostname,
    port: url.port,
    path: `${url.pathname}${url.search}`,
    method: 'POST',
    agent,
    headers: { 'content-type': 'application/json', ...(authorization && { authorization }) },
  }

  return {
    unreachable,

    // One bound for all of it is also one for the head and for every pause: an answer that drips ends with it.
    send: (body, timeoutMs) =>
      new Promise((resolve, reject) => {
        if (isClosed) throw unreachable('is not asked any more: the client was closed')
        const request = transport.request(options, (response) => {
          const chunks: Buffer[] = []
          let bytes = 0
          response.on('data', (chunk: Buffer) => {
            bytes += chunk.length
            if (bytes <= deps.answerBytesMax) chunks.push(chunk)
            else giveUp('answered too much')
          })
          response.on('error', (cause) => fail('broke off', cause))
          response.on('end', () => {
            clearTimeout(bound)
            resolve({ status: response.statusCode, text: hide(Buffer.concat(chunks).toString('utf8')) })
          })
        })
        const fail = (why: string, cause?: unknown) => {
          clearTimeout(bound)
          reject(unreachable(why, cause))
        }
        const giveUp = (why: string) => {
          fail(why)
          request.destroy()
        }
        // A timer that is cleared costs less than a signal, which cannot be: each would fire long after its answer came.
        const bound = setTimeout(() => giveUp(`did not answer within ${timeoutMs} ms`), timeoutMs)
        request.on('error', (cause) => fail('did not answer', cause))
        request.end(body)
      }),

    close() {
      isClosed = true
      agent.destroy()
    },
  }
}

/** Shorter parts of a URL occur by chance, and are no secrets. */
const secretCharsMin = 16

/** Takes out of a text what may be a key: long parts of the URL's path and query, and its credentials. */
function createHide({ pathname, searchParams, username, password }: URL): (text: string) => string {
  const parts = [...pathname.split('/'), ...searchParams.values(), username, password]
  const secrets = new Set(
    parts.flatMap((part) => [part, decoded(part)]).filter(({ length }) => length >= secretCharsMin),
  )
  return (text) => [...secrets].reduce((rest, secret) => rest.replaceAll(secret, '…'), text)
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
