/** `svc-pay mcp`: the payer of the operator's environment as tools for an agent. */
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import type { Clock } from '@svc-zerc20/protocol'
import { systemClock } from '@svc-zerc20/protocol/system-clock'
import type { AssembledPayer } from '../payer/assemble-payer.js'
import type { Approver } from '../policy/approval.js'
import { createElicitApprover } from './elicit.js'
import { serveHttp } from './http-server.js'
import { refusal } from './tool-answers.js'
import { createToolFetch } from './tool-fetch.js'
import { serveTools, type ToolPorts } from './tool-server.js'

/** The parts that the payer of a tool server is opened with. */
export type ToolParts = {
  /** Asks the human behind a client. */
  readonly approver: Approver
  readonly fetch: typeof globalThis.fetch
}

export type OpenPayer = (parts: ToolParts) => { readonly payer: AssembledPayer }

/** Calls of tools that run at once, over all clients. */
const callsMax = 16

function createPorts(open: OpenPayer, clock: Clock): ToolPorts {
  const { payer } = open({
    approver: createElicitApprover(clock),
    fetch: createToolFetch(globalThis.fetch, clock),
  })
  let running = 0
  return {
    payer,
    async bounded(work) {
      if (running >= callsMax) {
        return { answer: refusal('busy', `${callsMax} calls run already; ask again later`) }
      }
      running += 1
      try {
        return await work()
      } finally {
        running -= 1
      }
    },
  }
}

/**
 * Serves one client over standard input and output, until the input ends or the signal comes. Payments under way go on
 * after that, and their answers are kept.
 *
 * @throws Error when the connection ends before that, as it does after a message that is too long
 */
export async function serveStdio(
  open: OpenPayer,
  {
    stdin,
    stdout,
    until,
  }: { readonly stdin: Readable; readonly stdout: Writable; readonly until: AbortSignal },
): Promise<void> {
  const ports = createPorts(open, systemClock)
  const ended = Promise.race([once(stdin, 'end'), untilAborted(until)]).then(() => true)
  const { server } = await serveTools(ports, new StdioServerTransport(stdin, stdout))
  let fault = 'no reason is known'
  server.onerror = ({ message }) => {
    fault = message
  }
  const broken = new Promise<false>((resolve) => {
    server.onclose = () => resolve(false)
  })
  if (!(await Promise.race([ended, broken]))) throw new Error(`the connection to the client ended: ${fault}`)
  await server.close()
}

const untilAborted = async (signal: AbortSignal) => {
  if (!signal.aborted) await once(signal, 'abort')
}

/** Serves clients over HTTP on this machine, until the signal. */
export async function serveOverHttp(
  open: OpenPayer,
  options: {
    readonly port: number
    readonly token: string
    readonly onReady: (url: string) => void
    readonly until: AbortSignal
  },
): Promise<void> {
  const ports = createPorts(open, systemClock)
  const { port, token, until } = options
  const tools = await serveHttp({
    port,
    token,
    serve: (transport) => serveTools(ports, transport),
  })
  options.onReady(tools.url)
  await untilAborted(until)
  await tools.close()
}
