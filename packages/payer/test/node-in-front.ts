import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Answers a request in the node's place. */
export type Instead = (answer: ServerResponse, body: string, path: string | undefined) => unknown

/** A node in front of another one, which passes everything on until it is told to answer by itself. */
export async function startNodeInFront(behind: string) {
  let instead: Instead | undefined
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const piece of request) body += piece
    response.on('error', () => undefined)
    if (instead) return instead(response, body, request.url)
    const answer = await fetch(behind, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json' },
    })
    response.writeHead(answer.status).end(await answer.text())
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answer(by: Instead | undefined) {
      instead = by
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Sends a head and then a byte now and then, and never ends. */
export const drips: Instead = (answer) => {
  answer.writeHead(200)
  const timer = setInterval(() => answer.write(' '), 20)
  answer.on('close', () => clearInterval(timer))
}
