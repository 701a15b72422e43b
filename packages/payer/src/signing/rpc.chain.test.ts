/** `svc-pay` and the library beside nodes that answer slowly, without end or with words of their own. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Headers } from '@svc-zerc20/protocol'
import { systemClock } from '@svc-zerc20/protocol/system-clock'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { until } from '../../../../test/support/until.js'
import { startHostileSeller } from '../../test/hostile-seller.js'
import { startNetwork, type TestNetwork } from '../../test/network.js'
import { drips, type Instead, startNodeInFront } from '../../test/node-in-front.js'
import { randomHex } from '../../test/offers.js'
import { createSvcPay, type Ended, type Variables } from '../../test/svc-pay.js'

let net: TestNetwork
let state: string
let node: Awaited<ReturnType<typeof startNodeInFront>>
const closers: (() => Promise<unknown>)[] = []
beforeAll(async () => {
  net = await startNetwork()
})
beforeEach(async () => {
  state = await mkdtemp(join(tmpdir(), 'svc-pay-rpc-'))
  node = await startNodeInFront(net.rpcUrl)
  closers.push(() => rm(state, { recursive: true, force: true }), node.close)
})
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})
afterAll(() => net.close())

/** A seller who says that the payment was burned. Its node goes wrong while the payment is presented. */
async function seller(goesWrong: Instead | undefined, meanwhile = async () => undefined as unknown) {
  const started = await startHostileSeller(net, async ({ isPaid, response, demand, offer }) => {
    if (!isPaid) return demand(offer())
    node.answer(goesWrong)
    await meanwhile()
    const receipt = { network: net.network, success: true, transaction: randomHex(32) }
    return response.writeHead(200, { [Headers.paymentResponse]: Headers.encode(receipt) }).end('the goods')
  })
  closers.push(started.close)
  return started
}

const patience = 4_000
/** Far above every bound here, and far below what a bound that is missing would take. */
const muchLater = 25_000

async function timed(args: readonly string[], more: Variables = {}): Promise<Ended & { tookMs: number }> {
  const beganMs = systemClock.now()
  const environment = { SVC_RPC_URL: node.url, SVC_TIMEOUT_MS: `${patience}`, ...more }
  const ended = await createSvcPay(net, state).svcPay(args, environment)
  return { ...ended, tookMs: systemClock.now() - beganMs }
}

describe('R-093 a node whose answer drips and never ends', () => {
  it('holds no goods: they are printed, and the payment is noted', async () => {
    const { url } = await seller(drips)
    const { code, stdout, tookMs } = await timed(['pay', url])
    expect([code, stdout]).toEqual([0, 'the goods'])
    expect(tookMs).toBeLessThan(muchLater)
    node.answer(undefined)
    const { payments } = JSON.parse((await timed(['resume', '--json'])).stdout).result
    expect(payments).toEqual([])
  })

  it('holds no goods that are on the disk already', async () => {
    const folder = join(state, 'goes')
    await mkdir(folder)
    const { url } = await seller(undefined, () => rm(folder, { recursive: true }))
    expect((await timed(['pay', url, '-o', join(folder, 'answer')])).stderr).toContain('answer_kept')
    node.answer(drips)
    const { code, stdout, tookMs } = await timed(['pay', url])
    expect([code, stdout]).toEqual([0, 'the goods'])
    expect(tookMs).toBeLessThan(muchLater)
  })

  it('freezes none of five payments at once: each has its goods, or ends unsigned', async () => {
    const { url, requests } = await seller(drips)
    const all = Array.from({ length: 5 }, (_, n) => timed(['pay', `${url}?${n}`]))
    const ends = await Promise.all(all)
    for (const { tookMs } of ends) expect(tookMs).toBeLessThan(muchLater)
    const codes = ends.map(({ code }) => code)
    expect(codes.filter((code) => code !== 0 && code !== 5)).toEqual([])
    const paid = requests.filter(({ headers }) => headers['payment-signature'])
    expect(codes.filter((code) => code === 0)).toHaveLength(paid.length)
    expect(paid.length).toBeGreaterThan(0)
  })

  it('holds no SIGTERM back', async () => {
    let isPresented = false
    const { url } = await seller(drips, async () => (isPresented = true))
    const { child, ended } = createSvcPay(net, state).start(['pay', url], { SVC_RPC_URL: node.url })
    await until(() => isPresented)
    const toldMs = systemClock.now()
    child.kill('SIGTERM')
    expect([0, 6]).toContain((await ended).code)
    expect(systemClock.now() - toldMs).toBeLessThan(muchLater)
  })

  it('ends a payment unsigned after SVC_TIMEOUT_MS, its second try included', async () => {
    node.answer(drips)
    const { url, requests } = await seller(drips)
    const { code, stderr, tookMs } = await timed(['pay', url], { SVC_TIMEOUT_MS: '1000' })
    expect([code, stderr]).toEqual([5, expect.stringContaining('chain_unavailable')])
    expect(requests.filter(({ headers }) => headers['payment-signature'])).toEqual([])
    expect(tookMs).toBeLessThan(muchLater)
  })

  it('ends also one that sends more than anybody asked for', async () => {
    node.answer((answer) => {
      const send = (): unknown => !answer.destroyed && answer.write(' '.repeat(1_000_000), send)
      send()
    })
    const { url } = await seller(undefined)
    const { code, stderr } = await timed(['pay', url], { SVC_TIMEOUT_MS: '20000' })
    expect([code, stderr]).toEqual([5, expect.stringContaining('answered too much')])
  })
})

it('a node that breaks a connection is asked once more', async () => {
  let broken = 0
  node.answer((answer) => {
    broken += 1
    node.answer(undefined)
    answer.destroy()
  })
  const { url } = await seller(undefined)
  const { code, stdout } = await timed(['pay', url])
  expect([broken, code, stdout]).toEqual([1, 0, 'the goods'])
})

describe('the key in SVC_RPC_URL is in nothing that is printed', () => {
  const key = 'a1b2c3d4e5f60718293a4b5c6d7e8f90'
  const places: [string, (url: string) => string][] = [
    ['path', (url) => `${url}/v3/${key}`],
    ['query', (url) => `${url}/?apikey=${key}`],
    ['password', (url) => url.replace('http://', `http://me:${key}@`)],
  ]
  const echoes: [string, Instead][] = [
    [
      'a refusal',
      (answer, body, path) => {
        const refusal = ({ id }: { id: number }) => ({
          jsonrpc: '2.0',
          id,
          error: { code: -32_000, message: `no such project: ${path} ${key}` },
        })
        const sent = JSON.parse(body)
        answer.end(JSON.stringify(Array.isArray(sent) ? sent.map(refusal) : refusal(sent)))
      },
    ],
    ['a page', (answer, _, path) => answer.writeHead(403).end(`<html>${path} ${key} is blocked</html>`)],
    ['a broken connection', (answer) => answer.destroy()],
  ]

  it.each(places.flatMap(([at, withKey]) => echoes.map(([by, echo]) => ({ at, by, withKey, echo }))))(
    'its $at, though the node echoes it in $by',
    async ({ withKey, echo }) => {
      const { url } = await seller(undefined)
      node.answer(echo)
      const more = { SVC_RPC_URL: withKey(node.url) }
      for (const args of [['pay', url, '--json'], ['doctor'], ['doctor', '--json']]) {
        const { code, stdout, stderr } = await timed(args, more)
        expect(code).toBe(5)
        expect(stdout + stderr).not.toContain(key)
      }
    },
  )
})
