import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { parseAddress, parseBaseUnits } from '@svc-zerc20/protocol'
import type { Address, Hex } from 'viem'
import { type Faucet, faucetLimits } from '../deploy/faucet.js'
import { listenOnLoopback, loopbackHost, readBody } from '../node/rpc/loopback.js'

export type ControlServer = { url: string; port: number; close(): Promise<void> }

type FaucetRequest = { address: Address; amount: bigint; wei: bigint }
type Answer = { status: number; body: Record<string, string>; headers?: Record<string, string> }

const bodyBytesMax = 4_096

/**
 * Serves the devnet's own conveniences on loopback:
 * `POST /faucet {address, amount?, wei?}` mints token base units and sends native money.
 */
export async function startControlServer(options: { port?: number; faucet: Faucet }): Promise<ControlServer> {
  const server = createServer((request, response) => {
    request.on('error', () => undefined)
    answer(request, options.faucet)
      .catch((error: unknown): Answer => problem(502, `the chain refused: ${error}`))
      .then((result) => write(response, result))
  })
  const listening = await listenOnLoopback(server, options.port ?? 0)
  return { url: `http://${loopbackHost}:${listening.port}`, ...listening }
}

async function answer(request: IncomingMessage, faucet: Faucet): Promise<Answer> {
  if (request.url !== '/faucet') return problem(404, 'not found: only /faucet is here')
  if (request.method !== 'POST') return { ...problem(405, 'use POST'), headers: { allow: 'POST' } }
  // Only JSON is taken: a web page can send every other type to loopback without the browser's permission check.
  if (!/^application\/json\b/.test(request.headers['content-type'] ?? ''))
    return problem(415, 'send application/json')
  const text = await readBody(request, bodyBytesMax)
  if (text === undefined) return problem(413, 'body too large')
  const wanted = parseRequest(text)
  if (typeof wanted === 'string') return problem(400, wanted)
  const { address, amount, wei } = wanted
  const gifts: Record<string, Hex> = {}
  if (amount > 0n) gifts.tokenTransaction = await faucet.mintTokens(address, amount)
  if (wei > 0n) gifts.nativeTransaction = await faucet.sendNative(address, wei)
  return { status: 200, body: { address, amount: String(amount), wei: String(wei), ...gifts } }
}

function parseRequest(text: string): FaucetRequest | string {
  const input = parseObject(text)
  if (input === undefined) return 'expected a JSON object'
  const address = parseAddress(input.address)
  if (address === undefined) return 'address: expected 0x and 40 hex digits'
  const amount = parseBounded(input.amount, faucetLimits.tokenUnitsDefault, faucetLimits.tokenUnitsMax)
  if (amount === undefined)
    return `amount: expected base units as a decimal string, at most ${faucetLimits.tokenUnitsMax}`
  const wei = parseBounded(input.wei, faucetLimits.weiDefault, faucetLimits.weiMax)
  if (wei === undefined) return `wei: expected a decimal string, at most ${faucetLimits.weiMax}`
  return { address, amount, wei }
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

function parseBounded(input: unknown, otherwise: bigint, most: bigint): bigint | undefined {
  const value = input === undefined ? otherwise : parseBaseUnits(input)
  return value !== undefined && value <= most ? value : undefined
}

function problem(status: number, error: string): Answer {
  return { status, body: { error } }
}

function write(response: ServerResponse, { status, body, headers }: Answer): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}
