import { Agent, request } from 'node:http'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { reasons } from '@svc-zerc20/protocol'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startNetwork, type TestNetwork } from '../../test/network.js'

const cases = 10_000
const atOnce = 25
/** The same requests every time: a failure is found again by its number. */
const seed = 402
/** What 8 000 answers may leave behind: caches with a bound, and the few challenges that were really issued. */
const heapGrowthMax = 24 * 1024 * 1024

setFlagsFromString('--expose_gc')
const collectGarbage = runInNewContext('gc') as () => void

let net: TestNetwork
const agent = new Agent({ keepAlive: true, maxSockets: atOnce })
beforeAll(async () => {
  net = await startNetwork()
})
afterAll(async () => {
  agent.destroy()
  await net.close()
})

type Request = { method: string; path: string; type: string; body: Buffer }
type Response = { status: number; text: string }

function send({ method, path, type, body }: Request): Promise<Response> {
  return new Promise((resolve, reject) => {
    const url = new URL(net.facilitatorUrl)
    const headers = { 'content-type': type, 'content-length': body.length }
    const call = request({ host: url.hostname, port: url.port, method, path, headers, agent }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }),
      )
    })
    call.on('error', reject)
    call.end(body)
  })
}

const odd = fc.oneof(
  fc.constantFrom<unknown>(null, true, -1, 1.5, 1e308, '', '0x', '1e3', '0x10', '-1', '01', [], {}, [[[]]]),
  fc.string({ unit: 'binary', maxLength: 80 }),
  fc.bigInt({ min: 0n, max: 2n ** 260n }).map(String),
  fc.jsonValue(),
)
const hex = (bytes: number) =>
  fc
    .uint8Array({ minLength: bytes, maxLength: bytes })
    .map((array) => `0x${Buffer.from(array).toString('hex')}`)
const mostly = <T>(good: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 7, arbitrary: good as fc.Arbitrary<unknown> }, { weight: 1, arbitrary: odd })
const record = (shape: Record<string, fc.Arbitrary<unknown>>) =>
  mostly(
    fc.oneof(
      { weight: 4, arbitrary: fc.record(shape) },
      { weight: 1, arbitrary: fc.record(shape, { requiredKeys: [] }) },
    ),
  )

/** Challenges that exist stand among the nonces, so that the deep checks are reached too. */
const bodies = (nonces: readonly string[]) => {
  const nonce = mostly(fc.oneof(fc.constantFrom(...nonces), hex(32)))
  const permit = record({
    value: mostly(fc.constant('1000')),
    nonce: mostly(fc.constant('0')),
    deadline: mostly(fc.nat().map(String)),
    v: mostly(fc.constantFrom(0, 1, 27, 28)),
    r: mostly(hex(32)),
    s: mostly(hex(32)),
  })
  const payload = fc.oneof(
    record({ challengeNonce: nonce, burnTxHash: mostly(hex(32)) }),
    record({ challengeNonce: nonce, payer: mostly(hex(20)), permit, burnAuthSig: mostly(hex(65)) }),
  )
  const requirements = record({
    scheme: mostly(fc.constant('svc-zerc20')),
    network: mostly(fc.constant('eip155:31337')),
    asset: mostly(fc.constant(net.deployment.token)),
    payTo: mostly(hex(20)),
    amount: mostly(fc.constant('1000')),
    extra: record({ challengeNonce: nonce }),
  })
  const official = record({
    x402Version: mostly(fc.constant(2)),
    paymentPayload: record({ x402Version: mostly(fc.constant(2)), accepted: requirements, payload }),
    paymentRequirements: requirements,
  })
  return fc.oneof(
    { weight: 4, arbitrary: official },
    { weight: 3, arbitrary: payload },
    { weight: 1, arbitrary: record({ amount: odd }) },
  )
}

const requests = (nonces: readonly string[]): fc.Arbitrary<Request> => {
  const text = bodies(nonces).map((body) => JSON.stringify(body) ?? '')
  const raw = fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array))
  const cut = fc.tuple(text, fc.nat({ max: 100 })).map(([whole, end]) => Buffer.from(whole.slice(0, -end)))
  const paths = ['/challenge', '/verify', '/settle', '/supported', '/payments/0x', '/', '/%', '/admin/x']
  return fc.record({
    method: fc.constantFrom('POST', 'POST', 'POST', 'POST', 'POST', 'GET', 'PUT', 'DELETE', 'OPTIONS'),
    path: fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom('/settle', '/verify', '/challenge') },
      { weight: 1, arbitrary: fc.constantFrom(...paths) },
      { weight: 1, arbitrary: fc.webPath() },
      { weight: 1, arbitrary: hex(32).map((nonce) => `/payments/${nonce}`) },
    ),
    type: fc.constantFrom(
      ...Array.from({ length: 8 }, () => 'application/json'),
      'text/plain',
      'application/json;charset=x',
    ),
    body: fc.oneof(
      { weight: 8, arbitrary: text.map((whole) => Buffer.from(whole)) },
      { weight: 1, arbitrary: raw },
      { weight: 1, arbitrary: cut },
    ),
  })
}

/** The reason in an answer of any endpoint. */
function reasonIn(text: string): string | undefined {
  const body = JSON.parse(text) as Record<string, string>
  return body.invalidReason ?? body.errorReason ?? body.reason
}

describe('every endpoint', () => {
  it(`answers ${cases} random requests with a stable reason: no 5xx, no crash, no growth`, async () => {
    const offers = await Promise.all(Array.from({ length: 8 }, () => net.challenge()))
    const nonces = offers.map(({ challengeNonce }) => challengeNonce)
    const drawn = fc.sample(requests(nonces), { numRuns: cases, seed })
    const seen = new Map<string, number>()
    let heapBefore = 0

    for (let start = 0; start < cases; start += atOnce) {
      if (start === cases / 5) {
        collectGarbage()
        heapBefore = process.memoryUsage().heapUsed
      }
      const batch = drawn.slice(start, start + atOnce)
      const answers = await Promise.all(batch.map(send))
      for (const [i, { status, text }] of answers.entries()) {
        const what = `case ${start + i}: ${batch[i]?.method} ${batch[i]?.path} ${batch[i]?.body}`
        expect(status, `${what} → ${text}`).toBeLessThan(500)
        if (status === 200 || batch[i]?.method === 'HEAD') continue
        expect(Object.keys(reasons), what).toContain(reasonIn(text))
      }
      for (const { text } of answers) {
        const reason = (text !== '' && reasonIn(text)) || 'none'
        seen.set(reason, (seen.get(reason) ?? 0) + 1)
      }
    }
    drawn.length = 0
    collectGarbage()
    const grown = process.memoryUsage().heapUsed - heapBefore
    expect(grown).toBeLessThan(heapGrowthMax)
    expect(net.events.filter(({ event }) => event === 'request.failed')).toEqual([])
    // The draw reached beyond the parsers.
    for (const reason of ['malformed_payload', 'unknown_challenge', 'requirements_mismatch']) {
      expect(seen.get(reason) ?? 0, reason).toBeGreaterThan(20)
    }
    expect((await net.send('/supported')).status).toBe(200)
  }, 240_000)
})
