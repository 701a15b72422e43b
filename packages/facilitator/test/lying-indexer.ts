/** A proxy between the facilitator and the real indexer that can lie about paths, or not answer. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export type LyingIndexer = {
  readonly url: string
  forwardTo(url: string): void
  say(what: 'truth' | 'lies' | 'nothing'): void
  close(): Promise<void>
}

export async function startLyingIndexer(): Promise<LyingIndexer> {
  let target = ''
  let saying: 'truth' | 'lies' | 'nothing' = 'truth'
  const server = createServer(async (request, response) => {
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
      // Changes the lowest sibling of each path.
      const lies = text.replace(/"siblings":\["0x[0-9a-f]+"/g, '"siblings":["0x7"')
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
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}
