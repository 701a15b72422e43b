/** A fake facilitator without a chain: it gives the answers that a test scripts. */
import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export const network = 'eip155:31337'
export const token = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
export const helper = '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512'
export const burnTx = `0x${'ab'.repeat(32)}`

export type Call = { method: string; path: string; body: unknown; authorization: string | undefined }
/** An answer to one call. `drop` closes the connection without an answer; `hang` keeps it open without one. */
export type Answer = { status?: number; body?: unknown; headers?: Record<string, string> } | 'drop' | 'hang'
type Script = (call: Call) => Answer

export const accepted = { success: true, transaction: burnTx, network, extra: { phase: 'accepted' } }
export const refused = (errorReason: string, transaction = '') => ({
  success: false,
  errorReason,
  transaction,
  network,
})
/** Gives the answers one after the other and repeats the last. */
export function inOrder(...answers: Answer[]): Script {
  let next = 0
  return () => answers[Math.min(next++, answers.length - 1)] ?? 'drop'
}

export type TestFacilitator = Awaited<ReturnType<typeof startFacilitator>>

/** Pass a port for a facilitator that starts late, at an address that is already configured somewhere. */
export async function startFacilitator(port = 0) {
  const calls: Call[] = []
  const usual: Record<'supported' | 'challenge' | 'verify' | 'settle' | 'payments', Script> = {
    supported: () => ({
      body: { kinds: [{ x402Version: 2, scheme: 'svc-zerc20', network }], extensions: [], signers: {} },
    }),
    challenge: (call) => ({ body: challengeFor(call) }),
    verify: () => ({ body: { isValid: true } }),
    settle: () => ({ body: accepted }),
    payments: () => ({ body: { phase: 'open' } }),
  }
  const script = { ...usual }
  const answer = (call: Call): Answer => {
    const name = call.path.split('/')[1] ?? ''
    return name in script ? script[name as keyof typeof script](call) : { status: 404, body: {} }
  }
  const server = createServer(async (request, response) => {
    const call = await readCall(request)
    calls.push(call)
    write(response, answer(call))
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const { port: taken } = server.address() as AddressInfo
  const count = (path: string) => calls.filter((call) => call.path.startsWith(path)).length
  return {
    url: `http://127.0.0.1:${taken}`,
    port: taken,
    calls,
    script,
    /** How often each endpoint of the payment path was called since the last `forget`. */
    counts: () => ({
      challenge: count('/challenge'),
      verify: count('/verify'),
      settle: count('/settle'),
      payments: count('/payments/'),
    }),
    forget: () => {
      calls.length = 0
    },
    /** Forgets the calls and every scripted answer. */
    reset: () => {
      calls.length = 0
      Object.assign(script, usual)
    },
    close: () => {
      server.closeAllConnections()
      return new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

/** A challenge with every optional field. The payer is charged a fee of 1 %, at least 1. */
export function challengeFor({ body }: Call) {
  const list = BigInt((body as { amount: string }).amount)
  const fee = list / 100n || 1n
  const expiresAt = Math.floor(Date.now() / 1000) + 300
  return {
    payTo: `0x${randomBytes(20).toString('hex')}`,
    amount: (list + fee).toString(),
    token,
    chainId: 31337,
    challengeNonce: `0x${randomBytes(32).toString('hex')}`,
    expiresAt,
    helper,
    deadline: expiresAt,
    fee: { amount: fee.toString(), bps: 100 },
  }
}

async function readCall(request: IncomingMessage): Promise<Call> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString()
  return {
    method: request.method ?? '',
    path: request.url ?? '',
    body: text === '' ? undefined : JSON.parse(text),
    authorization: request.headers.authorization,
  }
}

function write(response: ServerResponse, answer: Answer): void {
  if (answer === 'hang') return
  if (answer === 'drop') {
    response.destroy()
    return
  }
  const { status = 200, body, headers } = answer
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text)
}
