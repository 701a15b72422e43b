/** The load generator: sends prepared bodies over open connections at a given concurrency, and measures the times. */
import http from 'node:http'
import { announceReady } from './child.js'

export type Load = {
  readonly url: string
  readonly bodies: readonly string[]
  readonly concurrency: number
}

export type LoadResult = {
  readonly seconds: number
  readonly succeeded: number
  readonly latenciesMs: readonly number[]
  /** Number of failed answers by reason. */
  readonly failures: Readonly<Record<string, number>>
}

/** Timeout of a request, as long as a payer waits. */
const requestMsMax = 30_000

type Answer = {
  isValid?: boolean
  success?: boolean
  invalidReason?: string
  errorReason?: string
  error?: string
}

async function run({ url, bodies, concurrency }: Load): Promise<LoadResult> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: concurrency })
  const latenciesMs: number[] = []
  const failures: Record<string, number> = {}
  let succeeded = 0
  let next = 0

  async function work(): Promise<void> {
    for (let body = bodies[next++]; body !== undefined; body = bodies[next++]) {
      const sentAt = performance.now()
      const answer = await post(url, body, agent).catch((error: Error): Answer => ({ error: error.message }))
      latenciesMs.push(performance.now() - sentAt)
      if (answer.isValid || answer.success) succeeded += 1
      else {
        const reason = answer.invalidReason ?? answer.errorReason ?? answer.error ?? 'no reason given'
        failures[reason] = (failures[reason] ?? 0) + 1
      }
    }
  }

  await openConnections(url, concurrency, agent)
  const startedAt = performance.now()
  await Promise.all(Array.from({ length: concurrency }, work))
  const seconds = (performance.now() - startedAt) / 1000
  agent.destroy()
  return { seconds, succeeded, latenciesMs, failures }
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

process.on('message', (load) => {
  void run(load as Load).then((result) => process.send?.(result))
})
announceReady({})
