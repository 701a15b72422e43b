/**
 * The load generator: sends prepared bodies, and measures the times. Either so many are under way at a time, over connections
 * that stay open, or so many come in a second, whatever became of those before them.
 */
import http from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { announceReady } from './child.js'

export type Load = { readonly url: string; readonly bodies: readonly string[] } & (
  | { readonly concurrency: number }
  | { readonly perSecond: number }
)

export type LoadResult = {
  /** From the first request to the last answer. */
  readonly seconds: number
  readonly succeeded: number
  /** Times of those that succeeded, and when each of them was answered, since the first request. */
  readonly latenciesMs: readonly number[]
  readonly answeredMs: readonly number[]
  /** Who paid, as the successful answers to settles say. */
  readonly payers: readonly string[]
  /** Number of failed answers by reason. */
  readonly failures: Readonly<Record<string, number>>
}

/** Timeout of a request, as long as a payer waits. */
const requestMsMax = 30_000

type Answer = {
  retryAfterMs?: number
  isValid?: boolean
  payer?: string
  payTo?: string
  success?: boolean
  invalidReason?: string
  errorReason?: string
  error?: string
  reason?: string
}

async function run(load: Load): Promise<LoadResult> {
  const { url, bodies } = load
  const isOpen = 'perSecond' in load
  const agent = new http.Agent({ keepAlive: true, ...(!isOpen && { maxSockets: load.concurrency }) })
  const latenciesMs: number[] = []
  const answeredMs: number[] = []
  const payers: string[] = []
  const failures: Record<string, number> = {}
  let startedAt = 0

  async function send(body: string): Promise<void> {
    const sentAt = performance.now()
    const answer = await (isOpen ? post : postPatiently)(url, body, agent).catch(
      (error: NodeJS.ErrnoException): Answer => ({ error: error.code ?? error.message }),
    )
    const now = performance.now()
    if (answer.isValid || answer.success || answer.payTo !== undefined) {
      latenciesMs.push(now - sentAt)
      answeredMs.push(now - startedAt)
      if (answer.success && answer.payer) payers.push(answer.payer)
      return
    }
    const reason =
      answer.invalidReason ?? answer.errorReason ?? answer.reason ?? answer.error ?? 'no reason given'
    failures[reason] = (failures[reason] ?? 0) + 1
  }

  if (!isOpen) await openConnections(url, load.concurrency, agent)
  startedAt = performance.now()
  if (isOpen) await arrive(bodies, load.perSecond, send)
  else await takeTurns(bodies, load.concurrency, send)
  const seconds = (performance.now() - startedAt) / 1000
  agent.destroy()
  return { seconds, succeeded: latenciesMs.length, latenciesMs, answeredMs, payers, failures }
}

async function takeTurns(
  bodies: readonly string[],
  concurrency: number,
  send: (body: string) => Promise<void>,
): Promise<void> {
  let next = 0
  const work = async () => {
    for (let body = bodies[next++]; body !== undefined; body = bodies[next++]) await send(body)
  }
  await Promise.all(Array.from({ length: concurrency }, work))
}

async function arrive(
  bodies: readonly string[],
  perSecond: number,
  send: (body: string) => Promise<void>,
): Promise<void> {
  const startedAt = performance.now()
  const sent: Promise<void>[] = []
  while (sent.length < bodies.length) {
    const due = Math.min(bodies.length, 1 + Math.floor(((performance.now() - startedAt) * perSecond) / 1000))
    for (const body of bodies.slice(sent.length, due)) sent.push(send(body))
    await sleep(1)
  }
  await Promise.all(sent)
}

/** Comes back when it is told to, as our resource server does. */
async function postPatiently(url: string, body: string, agent: http.Agent): Promise<Answer> {
  const endsAt = performance.now() + requestMsMax
  for (;;) {
    const answer = await post(url, body, agent)
    const { retryAfterMs } = answer
    if (retryAfterMs === undefined || performance.now() + retryAfterMs > endsAt) return answer
    await sleep(retryAfterMs)
  }
}

/** Opens the connections before the measurement, because resource servers keep theirs open too. */
async function openConnections(url: string, count: number, agent: http.Agent): Promise<void> {
  const anywhere = new URL('/', url)
  const open = () =>
    new Promise<void>((resolve, reject) => {
      http
        .get(anywhere, { agent }, (response) => response.resume().on('end', resolve).on('error', reject))
        .on('error', reject)
    })
  await Promise.all(Array.from({ length: count }, open))
}

function post(url: string, body: string, agent: http.Agent): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const signal = AbortSignal.timeout(requestMsMax)
    const request = http.request(url, { method: 'POST', agent, headers, signal }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        try {
          const answer = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Answer
          const retryAfterMs = 1000 * Number(response.headers['retry-after'])
          resolve(retryAfterMs > 0 ? { ...answer, retryAfterMs } : answer)
        } catch (error) {
          reject(error)
        }
      })
    })
    request.on('error', reject)
    request.end(body)
  })
}

process.on('message', (load) => {
  void run(load as Load).then((result) => process.send?.(result))
})
announceReady({})
