/** The whole files of the guide for sellers, run as they stand there, beside a facilitator that the test scripts. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startFacilitator, type TestFacilitator, token } from '../../test/facilitator.js'
import { offerOf, paying, paymentFor, required, secret } from '../../test/shop.js'

const top = new URL('../../../../', import.meta.url).pathname
const guide = readFileSync(join(top, 'docs/guides/sell-a-resource.md'), 'utf8')
const files = [...guide.matchAll(/^`([\w/.]+\.m?js)`[^\n]*\n\n```js\n(.*?)^```$/gms)]
const folder = mkdtempSync(join(tmpdir(), 'svc-guide-files-'))
const children: ChildProcess[] = []
let facilitator: TestFacilitator
let env: Record<string, string>

beforeAll(async () => {
  facilitator = await startFacilitator()
  symlinkSync(join(top, 'node_modules'), join(folder, 'node_modules'))
  for (const [, name = '', text = ''] of files) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  // Outside a bundler only the CommonJS build of the next adapter finds `next/server`.
  const adapter = join(folder, 'app/node_modules/@x402/next')
  mkdirSync(adapter, { recursive: true })
  const entry = createRequire(join(folder, 'x.js')).resolve('@x402/next')
  writeFileSync(join(adapter, 'index.js'), `module.exports = require(${JSON.stringify(entry)})`)
  env = {
    PATH: String(process.env.PATH),
    FACILITATOR_URL: facilitator.url,
    SHOP_TOKEN: token,
    SHOP_SECRET: secret,
    PORT: '0',
  }
})
afterAll(async () => {
  for (const child of children) child.kill()
  await facilitator.close()
  rmSync(folder, { recursive: true, force: true })
})

describe('the whole files of the guide for sellers', () => {
  it('are four', () => {
    expect(files.map(([, name]) => name)).toEqual([
      'shop.mjs',
      'app/paid.js',
      'app/report/route.js',
      'tools.mjs',
    ])
  })

  it('sell on hono', async () => {
    const shop = spawn(process.execPath, ['shop.mjs'], {
      cwd: folder,
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    children.push(shop)
    const url = await new Promise<string>((resolve, reject) => {
      shop.stdout?.once('data', (line: Buffer) => resolve(line.toString().trim()))
      shop.once('exit', (code) => reject(new Error(`the shop exited with ${code}`)))
    })
    const payment = paymentFor(offerOf(required(await fetch(url))))
    const answer = await fetch(url, paying(payment))
    expect([answer.status, await answer.json()]).toEqual([200, { report: '…' }])
  })

  it('sell a tool over MCP', async () => {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: ['tools.mjs'],
      cwd: folder,
      env,
    })
    const client = new Client({ name: 'test', version: '1' })
    await client.connect(transport)
    const call = { name: 'search', arguments: { query: 'cash' } }
    const { structuredContent } = await client.callTool(call)
    const payment = paymentFor(offerOf(structuredContent as never))
    const found = await client.callTool({ ...call, _meta: { 'x402/payment': payment } })
    expect(found.content).toEqual([{ type: 'text', text: 'found cash' }])
    await client.close()
  })

  it('sell on Next', async () => {
    // A process of its own, because the test runner resolves packages in its own way.
    const buy = `
      import { GET } from './app/report/route.js'
      import next from 'next/server.js'
      const ask = (headers) => GET(new next.NextRequest('http://127.0.0.1/report', { headers }), {})
      const required = JSON.parse(atob((await ask({})).headers.get('payment-required')))
      const [accepted] = required.accepts
      const { challengeNonce } = accepted.extra
      const payload = { challengeNonce, burnTxHash: '0x' + 'cd'.repeat(32) }
      const payment = btoa(JSON.stringify({ x402Version: 2, accepted, payload }))
      console.log(await (await ask({ 'payment-signature': payment })).text())`
    writeFileSync(join(folder, 'buy.mjs'), buy)
    const options = { cwd: folder, env: { ...env, NODE_ENV: 'development' } }
    const { stdout } = await promisify(execFile)(process.execPath, ['buy.mjs'], options)
    expect(JSON.parse(stdout)).toEqual({ report: '…' })
  })
})
