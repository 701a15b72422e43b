/** A proxy between the facilitator and the real indexer that can lie about paths and transfers, or not answer. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export type LyingIndexer = {
  readonly url: string
  forwardTo(url: string): void
  say(what: 'truth' | 'lies' | 'nothing'): void
  /** How often a path was asked for. */
  asked(path: string): number
  close(): Promise<void>
}

export async function startLyingIndexer(): Promise<LyingIndexer> {
  let target = ''
  const paths: string[] = []
  let saying: 'truth' | 'lies' | 'nothing' = 'truth'
  const server = createServer(async (request, response) => {
    paths.push(request.url ?? '')
    if (saying === 'nothing') return response.destroy()
    try {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const method = request.method ?? 'GET'
      const answer = await fetch(`${target}${request.url}`, {
        method,
        ...(method === 'POST' && {
          headers: { 'content-type': 'application/json' },
          body: Buffer.concat(chunks),
        }),
      })
      const text = await answer.text()
      // Changes the lowest sibling of each path and the recipient of each transfer.
      const lies = text
        .replace(/"siblings":\["0x[0-9a-f]+"/g, '"siblings":["0x7"')
        .replace(/"to":"0x[0-9a-fA-F]{40}"/g, `"to":"0x${'77'.repeat(20)}"`)
      const said = saying === 'lies' ? lies : text
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(said)
    } catch {
      response.destroy()
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    forwardTo(url) {
      target = url
    },
    say(what) {
      saying = what
    },
    asked: (path) => paths.filter((asked) => asked.startsWith(path)).length,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}
