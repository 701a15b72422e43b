/**
 * The load: sends prepared bodies and measures the times. Either so many are under way at a time, over connections that stay
 * open, or so many come in a second, whatever became of those before them. Nobody comes back: a refusal is a failure.
 */
import http from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

export type Pace = { readonly concurrency: number } | { readonly perSecond: number }

export type LoadResult = {
  /** From the first request to the last answer. */
  readonly seconds: number
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
  isValid?: boolean
  payer?: string
  payTo?: string
  success?: boolean
  invalidReason?: string
  errorReason?: string
  error?: string
  reason?: string
}

export async function send(url: string, bodies: readonly string[], pace: Pace): Promise<LoadResult> {
  const isSteady = 'perSecond' in pace
  const agent = new http.Agent({ keepAlive: true, ...(!isSteady && { maxSockets: pace.concurrency }) })
  const latenciesMs: number[] = []
  const answeredMs: number[] = []
  const payers: string[] = []
  const failures: Record<string, number> = {}

  if (!isSteady) await openConnections(url, pace.concurrency, agent)
  const startedAt = performance.now()
  async function one(body: string): Promise<void> {
    const sentAt = performance.now()
    const answer = await post(url, body, agent).catch(
      (error: NodeJS.ErrnoException): Answer => ({ error: error.code ?? error.message }),
    )
    const now = performance.now()
    if (answer.isValid || answer.success || answer.payTo !== undefined) {
      latenciesMs.push(now - sentAt)
      answeredMs.push(now - startedAt)
      if (answer.success && answer.payer) payers.push(answer.payer.toLowerCase())
      return
    }
    const { invalidReason, errorReason, reason, error = 'no reason given' } = answer
    const why = invalidReason ?? errorReason ?? reason ?? error
    failures[why] = (failures[why] ?? 0) + 1
  }
  await (isSteady ? arrive(bodies, pace.perSecond, one) : takeTurns(bodies, pace.concurrency, one))
  const seconds = (performance.now() - startedAt) / 1000
  agent.destroy()
  return { seconds, latenciesMs, answeredMs, payers, failures }
}

async function takeTurns(
  bodies: readonly string[],
  concurrency: number,
  one: (body: string) => Promise<void>,
): Promise<void> {
  let next = 0
  const work = async () => {
    for (let body = bodies[next++]; body !== undefined; body = bodies[next++]) await one(body)
  }
  await Promise.all(Array.from({ length: concurrency }, work))
}

async function arrive(
  bodies: readonly string[],
  perSecond: number,
  one: (body: string) => Promise<void>,
): Promise<void> {
  const startedAt = performance.now()
  const sent: Promise<void>[] = []
  while (sent.length < bodies.length) {
    const due = Math.min(bodies.length, 1 + Math.floor(((performance.now() - startedAt) * perSecond) / 1000))
    for (const body of bodies.slice(sent.length, due)) sent.push(one(body))
    await sleep(1)
  }
  await Promise.all(sent)
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
          resolve(JSON.parse(Buffer.concat(chunks).toString('utf8')) as Answer)
        } catch (error) {
          reject(error)
        }
      })
    })
    request.on('error', reject)
    request.end(body)
  })
}

/** The smallest value such that this share of the values is at most that large. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN
}
