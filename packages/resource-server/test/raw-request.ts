/** Raw requests: any verb, and a target that is sent unchanged. */
import { type IncomingHttpHeaders, request as open } from 'node:http'

export type RawAnswer = {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export function sendRaw(
  url: string,
  { method, target, headers = {} }: { method: string; target: string; headers?: Record<string, string> },
): Promise<RawAnswer> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const request = open({ hostname, port, method, path: target, headers, agent: false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk) => chunks.push(chunk))
      const { statusCode: status = 0, headers } = response
      // The body may end early: a POST that a middleware turned into a HEAD is answered with a length and no body.
      const end = () => resolve({ status, headers, body: Buffer.concat(chunks).toString('utf8') })
      response.once('error', end)
      response.once('end', end)
    })
    request.once('error', reject)
    request.end()
  })
}
