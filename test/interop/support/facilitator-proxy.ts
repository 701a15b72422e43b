/** A proxy between a shop and the facilitator. It records every call and breaks calls on request. */
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as openRequest,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'

export type Call = {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}
export type Answer = {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** One call on its way. */
export type Exchange = {
  readonly call: Call
  /** Forwards the call over its own connection. Rejects when that is cut. */
  forward(): Promise<Answer>
  /** Ends the connection to the facilitator, whatever it is doing. */
  cut(): void
}

/** Handles a call. `drop` closes the shop's connection without an answer. */
export type Script = (exchange: Exchange) => Promise<Answer | 'drop'>

export async function startFacilitatorProxy(target: string) {
  const calls: Call[] = []
  const scripts: { path: string; script: Script; times: number }[] = []
  const straight: Script = ({ forward }) => forward()

  const scriptFor = ({ path }: Call): Script => {
    const found = scripts.find((each) => path.startsWith(each.path) && each.times > 0)
    if (found) found.times -= 1
    return found?.script ?? straight
  }

  const server = createServer(async (request, response) => {
    const call = await readCall(request)
    calls.push(call)
    const answer = await scriptFor(call)(createExchange(target, call)).catch(() => 'drop' as const)
    write(response, answer)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo

  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    /** The paths called since the last `forget`, without `/supported`. */
    paths: () => calls.map(({ path }) => path).filter((path) => path !== '/supported'),
    forget: () => {
      calls.length = 0
    },
    /** Forgets the calls and all unused scripts. */
    reset: () => {
      calls.length = 0
      scripts.length = 0
    },
    /** The next calls of this path go through the script. */
    meet: (path: string, script: Script, times = 1) => scripts.push({ path, script, times }),
    close: () => {
      server.closeAllConnections()
      return new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

function createExchange(target: string, call: Call): Exchange {
  const { method, path, headers, body } = call
  const { host: _, connection: __, ...passedOn } = headers
  const abort = new AbortController()
  return {
    call,
    cut: () => abort.abort(),
    forward: () =>
      new Promise<Answer>((resolve, reject) => {
        const upstream = openRequest(`${target}${path}`, {
          method,
          headers: passedOn,
          agent: false,
          signal: abort.signal,
        })
        upstream.once('error', reject)
        upstream.once('response', (response: IncomingMessage) => {
          readText(response).then(
            (text) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }),
            reject,
          )
        })
        upstream.end(body)
      }),
  }
}

async function readCall(request: IncomingMessage): Promise<Call> {
  const { method = '', url: path = '', headers } = request
  return { method, path, headers, body: await readText(request) }
}

async function readText(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of message) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

function write(response: ServerResponse, answer: Answer | 'drop'): void {
  if (answer === 'drop') {
    response.destroy()
    return
  }
  const type = answer.headers['content-type'] ?? 'application/json'
  response.writeHead(answer.status, { 'content-type': type }).end(answer.body)
}
