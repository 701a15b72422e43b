/**
 * `mcp`: the payer as tools for an agent. Its packages are loaded only here, so that the other commands start
 * fast.
 */
import { randomBytes } from 'node:crypto'
import type { Readable, Writable } from 'node:stream'
import { SvcError } from '@svc-zerc20/protocol'
import { type Environment, readEnvironment } from '../environment/variables.js'
import type { OpenPayer } from '../mcp/serve.js'
import { exitCodes } from '../payer-error.js'
import type { Io, Report } from './output.js'
import { openSession } from './session.js'
import { untilTold } from './stop-signals.js'

export type McpCommand = { readonly http: number | undefined; readonly page: boolean }

export async function mcp(
  environment: Environment,
  { http, page }: McpCommand,
  io: Io,
  { stdin, warn }: { readonly stdin: NodeJS.ReadableStream; readonly warn: (warning: string) => void },
): Promise<Report> {
  const { serveOverHttp, serveStdio } = await import('../mcp/serve.js').catch(explainMissing)
  const { SVC_MCP_TOKEN: token } = readEnvironment(environment).settings
  // Without HTTP, standard input belongs to the client, so no human can be asked there.
  const asked = http === undefined ? { ...io, terminal: undefined } : io
  const open: OpenPayer = (parts) => {
    const session = openSession(environment, asked, { page, ...parts })
    for (const warning of session.warnings) warn(warning)
    return session
  }
  const until = untilTold(() => io.stderr.write('ending, after the payments under way\n'))
  if (http === undefined) {
    await serveStdio(open, { stdin: stdin as Readable, stdout: io.stdout as Writable, until })
    return done
  }
  const secret = token?.reveal() ?? randomBytes(32).toString('hex')
  await serveOverHttp(open, {
    port: http,
    token: secret,
    until,
    onReady(url) {
      io.stderr.write(`tools at ${url}\n`)
      if (token === undefined) io.stderr.write(`bearer token ${secret}\n`)
    },
  })
  return done
}

const done: Report = { exitCode: exitCodes.ok, result: {}, text: '' }

function explainMissing(cause: unknown): never {
  const isMissing = (cause as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND'
  if (!isMissing) throw cause
  throw new SvcError(
    'payer_misconfigured',
    'the tools need the official MCP package: npm install @modelcontextprotocol/sdk',
    { cause },
  )
}
