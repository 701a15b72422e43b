import { gunzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import * as files from '#pages'
import { connectionBounds } from '../../test/connections.js'
import { createServer } from './server.js'
import { registerWebPages } from './web-pages.js'

const bytesMax = 80_000

function open({ hasDashboard = true, hasHistory = true, left = 99 } = {}) {
  const app = createServer({
    chainId: 1,
    trustedProxies: undefined,
    bodyBytesMax: 1_000,
    log: () => undefined,
    connections: connectionBounds,
  })
  let asked = 0
  const refused = { ok: false, reason: 'too_many_requests', message: 'wait' } as const
  const aside = () => (++asked > left ? refused : undefined)
  registerWebPages(app, { hasDashboard, hasHistory, admission: { aside } })
  return app
}

const paths = ['/dashboard/', '/dashboard/dashboard.js', '/dashboard/history/', '/dashboard/history.js']

const zipped = (app: ReturnType<typeof open>, url: string) =>
  app.inject({ url, headers: { 'accept-encoding': 'gzip, br' } })

it('both pages and their scripts are at most 80 KB compressed', async () => {
  const app = open()
  const packed = await Promise.all(paths.map(async (path) => (await zipped(app, path)).rawPayload.length))
  expect(/node:|require\(|url\(/.test(Object.values(files).join())).toBe(false)
  const together = packed.reduce((sum, bytes) => sum + bytes, 0)
  process.stdout.write(`dashboard and history page have ${together} bytes compressed\n`)
  expect(together).toBeLessThanOrEqual(bytesMax)
})

it.each(paths)(
  '%s allows nothing inline, nothing foreign, no frame, no referrer and no cache',
  async (path) => {
    const app = open()
    const { statusCode, headers, body } = await app.inject(path)
    expect(statusCode).toBe(200)
    const policy = String(headers['content-security-policy'])
    expect(policy).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self' 'sha256-[^' ]+'; connect-src 'self';/,
    )
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toContain('unsafe')
    expect(headers).toMatchObject({
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    })
    const packed = await zipped(app, path)
    expect(packed.headers['content-encoding']).toBe('gzip')
    expect(gunzipSync(packed.rawPayload).toString()).toBe(body)
  },
)

it('the dashboard is not there where the operator’s surface is locked, nor the history page without a history', async () => {
  const statuses = async (app: ReturnType<typeof open>) =>
    Promise.all(paths.map(async (url) => (await app.inject(url)).statusCode))
  expect(await statuses(open({ hasDashboard: false }))).toEqual([404, 404, 200, 200])
  expect(await statuses(open({ hasHistory: false }))).toEqual([200, 200, 404, 404])
  expect((await open().inject('/dashboard')).headers.location).toBe('dashboard/')
})

it('a page costs its caller as much as any request', async () => {
  const app = open({ left: 1 })
  expect((await app.inject('/dashboard/')).statusCode).toBe(200)
  expect((await app.inject('/dashboard/')).statusCode).toBe(429)
})
