/**
 * Asks once, on a page that only this machine can open. The address contains a secret, so that no other page
 * and no other user can answer. Requests for another host name (a rebound DNS name) and posts of other pages
 * are refused.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type ApprovalRequest, type Approver, linesOf } from './approval.js'

const host = '127.0.0.1'
const bodyBytesMax = 1_024

/** `show` brings the address to a human, in a way that no agent can read. */
export function createPageApprover({ show }: { readonly show: (url: string) => void }): Approver {
  return async (request, signal) => {
    const secret = randomBytes(32).toString('hex')
    let resolve: (isApproved: boolean) => void = () => undefined
    const answered = new Promise<boolean>((done) => {
      resolve = done
    })
    const server = createServer((asked, response) => {
      serve(asked, response).catch(() => response.destroy())
    })

    async function serve(asked: IncomingMessage, response: ServerResponse): Promise<void> {
      const { port } = server.address() as AddressInfo
      const origin = `http://${host}:${port}`
      const isOurs = asked.headers.host === `${host}:${port}` && isSame(asked.url ?? '', `/${secret}`)
      if (!isOurs) return answer(response, 404, 'Nothing is here.')
      if (asked.method === 'GET') return answer(response, 200, questionPage(request))
      if (asked.method !== 'POST' || asked.headers.origin !== origin) return answer(response, 403, 'Refused.')
      const isApproved = (await readBody(asked)) === 'answer=yes'
      answer(
        response,
        200,
        isApproved ? 'Approved. You can close this page.' : 'Refused. You can close this page.',
      )
      resolve(isApproved)
    }

    await new Promise<void>((ready, failed) => server.once('error', failed).listen(0, host, ready))
    signal.addEventListener('abort', () => resolve(false), { once: true })
    try {
      show(`http://${host}:${(server.address() as AddressInfo).port}/${secret}`)
      return await answered
    } finally {
      server.close()
      setImmediate(() => server.closeAllConnections())
    }
  }
}

const isSame = (a: string, b: string) =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))

function answer(response: ServerResponse, status: number, content: string): void {
  response
    .writeHead(status, {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'; form-action 'self'; frame-ancestors 'none'",
      'cache-control': 'no-store',
      'referrer-policy': 'same-origin',
      connection: 'close',
    })
    .end(`<!doctype html><meta charset="utf-8"><title>svc-pay</title><body>${content}`)
}

function questionPage(request: ApprovalRequest): string {
  const rows = linesOf(request).map(
    ([name, value]) => `<tr><th align="left">${escaped(name)}<td>${escaped(value)}`,
  )
  const button = (value: string, label: string) => `<button name="answer" value="${value}">${label}</button>`
  return `<h1>A payment needs your approval</h1><table>${rows.join('')}</table>
<form method="post">${button('no', 'Refuse')} ${button('yes', 'Pay')}</form>`
}

const escaped = (text: string) => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

async function readBody(asked: IncomingMessage): Promise<string> {
  let body = ''
  for await (const part of asked) {
    body += part
    if (body.length > bodyBytesMax) throw new Error('too long')
  }
  return body
}
