/**
 * Hostile strangers and hostile participants at the payment history of the real daemon. Nobody gets in without a good
 * token, nobody learns which wallets are configured, and nothing that a participant asks for stops the daemon.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { developmentRoles, type LocalNetwork, startLocalNetwork } from '@svc-zerc20/devnet'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCommand } from '../../packages/facilitator/test/command.js'
import { hostileTokens } from '../../packages/facilitator/test/hostile-tokens.js'
import { facilitatorKiB, growthKiBMax } from '../support/growth.js'
import { openSocket, type RawSocket } from '../support/raw-socket.js'
import { type Heard, request, say } from './caller.js'

const url = 'https://history.example'
const secret = '7e5b1c90d2a84f6e9b3c0d1e2f405162'
/** The documented rates a minute. */
const statedLogins = 20
const payer = privateKeyToAccount(developmentRoles.payer.privateKey)
const provider = privateKeyToAccount(developmentRoles.provider.privateKey)
const stranger = privateKeyToAccount(`0x${'5a'.repeat(32)}`)
const names = {
  HISTORY_PAYER_TENANT: 'acme-tenant',
  HISTORY_PAYER_ACTOR: 'buyer-actor',
  HISTORY_PROVIDER_TENANT: 'shop-tenant',
  HISTORY_PROVIDER_ACTOR: 'till-actor',
}

let net: LocalNetwork
const folder = mkdtempSync(join(tmpdir(), 'svc-hostile-history-'))
const environment = {
  PAYMENT_HISTORY_PATH: join(folder, 'history.jsonl'),
  HISTORY_IDENTITY_SECRET: secret,
  HISTORY_PAYER_ADDRESS: payer.address,
  HISTORY_PROVIDER_ADDRESS: provider.address,
  ...names,
}
const good = { payer: '', provider: '' }
let callers = 0
const nextAddress = () => `127.0.${2 + Math.floor(callers / 250)}.${1 + (callers++ % 250)}`
const tell = (bytes: string, from = nextAddress()) => say(net.facilitatorUrl, from, bytes)
const ask = (path: string, token: string, method = 'GET') =>
  tell(request(method, `/history${path}`, { headers: [`Authorization: Bearer ${token}`] }))
const post = (path: string, body: unknown, from?: string) =>
  tell(request('POST', `/history${path}`, { body: JSON.stringify(body) }), from)
const bodyOf = ({ text }: Heard) => text.slice(text.indexOf('\r\n\r\n') + 4)

beforeAll(async () => {
  net = await startLocalNetwork({ powBits: 1, config: { history: { url } }, environment })
  for (const role of ['payer', 'provider'] as const) {
    const args = ['history', 'token', '--role', role, '--config', net.configFile]
    good[role] = (await runCommand(args, environment)).stdout.trim()
  }
})
afterAll(async () => {
  await net?.close()
  rmSync(folder, { recursive: true, force: true })
})

const logText = () => readFileSync(join(net.directory, 'facilitator.log'), 'utf8')

describe('R-143 tokens at the built daemon', () => {
  it('takes those of the command', async () => {
    for (const role of ['payer', 'provider'] as const) {
      const heard = await ask('/whoami', good[role])
      expect(heard.statuses, heard.text).toEqual([200])
      expect(JSON.parse(bodyOf(heard))).toMatchObject({ role })
    }
  })

  it('refuses every hostile one with its reason, at a route and where there is none', async () => {
    const now = Math.floor(Date.now() / 1000)
    const { HISTORY_PROVIDER_TENANT: tenant, HISTORY_PROVIDER_ACTOR: actor } = names
    const cases = await hostileTokens({ token: good.payer, secret, url, now, provider: { tenant, actor } })
    expect(cases.length).toBeGreaterThanOrEqual(80)
    for (const { name, reason, authorization } of cases) {
      const headers = authorization.map((value) => `Authorization: ${value}`)
      for (const path of ['/history/whoami', '/history/payments/0x00', '/history/nothing']) {
        const { statuses, reasons, text } = await tell(request('GET', path, { headers }))
        expect({ name, statuses, reasons }).toEqual({ name, statuses: [401], reasons: [reason] })
        for (const hidden of Object.values(names)) expect(text).not.toContain(hidden)
      }
    }
  })

  const ways: [string, () => string][] = [
    ['a token in the query', () => request('GET', `/history/whoami?access_token=${good.payer}`)],
    [
      'a token in a cookie',
      () => request('GET', '/history/whoami', { headers: [`Cookie: token=${good.payer}`] }),
    ],
    [
      'a token for the proxy',
      () => request('GET', '/history/whoami', { headers: [`Proxy-Authorization: Bearer ${good.payer}`] }),
    ],
    [
      'the token of the operator',
      () => request('GET', '/history/whoami', { headers: [`Authorization: Bearer ${net.adminToken}`] }),
    ],
    [
      'another method in a header',
      () => request('POST', '/history/whoami', { headers: ['X-HTTP-Method-Override: GET'] }),
    ],
    ['a HEAD without a token', () => request('HEAD', '/history/export')],
    ['a path in capitals', () => request('GET', '/HISTORY/whoami')],
    ['a path with two slashes', () => request('GET', '//history/whoami')],
    ['a path with a coded slash', () => request('GET', '/history%2fwhoami')],
    ['a path that climbs', () => request('GET', '/supported/../history/whoami')],
    ['a path that climbs out of the login', () => request('GET', '/history/login/../whoami')],
    ['a path with a semicolon', () => request('GET', '/history/whoami;x=/history/login')],
    ['a nonce of five thousand digits', () => request('GET', `/history/payments/0x${'0'.repeat(5_000)}`)],
    ['broken percent-encoding', () => request('GET', '/history/payments/%E0%A4%A')],
    ['an OPTIONS', () => request('OPTIONS', '/history/payments')],
  ]
  it.each(ways)('lets nobody in by %s', async (_, bytes) => {
    const { statuses, text } = await tell(bytes())
    expect(statuses.length).toBe(1)
    expect([401, 404], text).toContain(statuses[0])
    for (const hidden of Object.values(names)) expect(text).not.toContain(hidden)
  })

  it('gives a participant nothing of the operator', async () => {
    const headers = [`Authorization: Bearer ${good.provider}`]
    for (const path of ['/admin/status', '/admin/metrics', '/admin/payments']) {
      expect((await tell(request('GET', path, { headers }))).statuses).toEqual([401])
    }
  })
})

describe('R-143 logins at the built daemon', () => {
  const challenge = async (address: string, from?: string) =>
    JSON.parse(bodyOf(await post('/login/challenge', { address }, from))) as { message: string }
  async function logIn(account: PrivateKeyAccount, as = account) {
    const { message } = await challenge(as.address)
    return {
      message,
      ...(await post('/login', { message, signature: await account.signMessage({ message }) })),
    }
  }

  it('lets both wallets in, each once for a message', async () => {
    for (const [role, account] of Object.entries({ payer, provider })) {
      const { message, statuses, text } = await logIn(account)
      expect(statuses, text).toEqual([200])
      const { token } = JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4)) as { token: string }
      expect(JSON.parse(bodyOf(await ask('/whoami', token)))).toMatchObject({ role })
      const again = await post('/login', { message, signature: await account.signMessage({ message }) })
      expect(again.reasons).toEqual(['login_reused'])
    }
  })

  it('answers alike for every address, and refuses alike whoever is named', async () => {
    const shapes = await Promise.all(
      [payer, provider, stranger].map(async ({ address }) => {
        const { statuses, text } = await post('/login/challenge', { address })
        return [
          statuses,
          text
            .replaceAll(address, '')
            .replace(/Nonce: \w+|\d\d:\d\d:\d\d|"expiresAt":\d+/g, '')
            .replace(/date:.*/i, ''),
        ]
      }),
    )
    expect(shapes[1]).toEqual(shapes[0])
    expect(shapes[2]).toEqual(shapes[0])
    const refusals = [await logIn(stranger), await logIn(stranger, payer), await logIn(payer, provider)]
    expect(refusals.map(({ reasons }) => reasons)).toEqual(refusals.map(() => ['login_refused']))
    expect(new Set(refusals.map(bodyOf)).size).toBe(1)
  })

  const bodies: [string, string, string][] = [
    ['no address', '/login/challenge', '{}'],
    ['an address of a list', '/login/challenge', `{"address":["${payer.address}"]}`],
    ['an address with a line break', '/login/challenge', `{"address":"${payer.address}\\n"}`],
    ['an address of sixty thousand letters', '/login/challenge', `{"address":"0x${'a'.repeat(60_000)}"}`],
    ['an address in the prototype', '/login/challenge', `{"__proto__":{"address":"${payer.address}"}}`],
    ['no JSON', '/login/challenge', 'address'],
    ['no message', '/login', '{"signature":"0x00"}'],
    ['a message that is none', '/login', '{"message":"hello","signature":"0x00"}'],
    [
      'a message of sixty thousand letters',
      '/login',
      `{"message":"${'\\n'.repeat(30_000)}","signature":"0x00"}`,
    ],
    [
      'a signature of sixty thousand letters',
      '/login',
      `{"message":"x","signature":"0x${'0'.repeat(60_000)}"}`,
    ],
    ['a signature of a number', '/login', '{"message":"x","signature":1}'],
    ['brackets', '/login', '['.repeat(60_000)],
  ]
  it.each(bodies)('refuses %s', async (_, path, body) => {
    const { statuses, text } = await tell(request('POST', `/history${path}`, { body }))
    expect(statuses, text.slice(0, 400)).toEqual([400])
  })

  it('stops one caller at its rate, and no other', async () => {
    const from = nextAddress()
    const codes: number[] = []
    for (let i = 0; i < statedLogins + 5; i++) {
      codes.push(...(await post('/login/challenge', { address: payer.address }, from)).statuses)
    }
    expect(codes).toEqual([...Array(statedLogins).fill(200), ...Array(5).fill(429)])
    expect((await logIn(payer)).statuses).toEqual([200])
  })

  it('keeps nothing of two thousand messages that nobody signs', async () => {
    const body = JSON.stringify({ address: stranger.address })
    const one = (keep: boolean) => request('POST', '/history/login/challenge', { body, keep })
    const flood = () => tell(one(true).repeat(statedLogins - 1) + one(false))
    await Promise.all(Array.from({ length: 20 }, flood))
    const before = facilitatorKiB(net)
    for (let i = 0; i < 5; i++) await Promise.all(Array.from({ length: 20 }, flood))
    expect(facilitatorKiB(net) - before).toBeLessThan(growthKiBMax)
  })
})

describe('a hostile participant at the built daemon', () => {
  const queries: [string, ...number[]][] = [
    ['/payments?cursor=AAAA', 400],
    ['/payments?cursor=../../etc/passwd', 400],
    [`/payments?cursor=${'A'.repeat(4_000)}`, 400],
    [
      `/payments?cursor=${Buffer.concat([Buffer.of(1), Buffer.alloc(40, 0xff)]).toString('base64url')}`,
      200,
      400,
    ],
    ['/payments?limit=0', 400],
    ['/payments?limit=-1', 400],
    ['/payments?limit=1e9', 400],
    ['/payments?limit=9999', 200],
    ['/payments?since=-1', 400],
    ['/payments?since=9007199254740993', 400],
    ['/payments?since=5&until=5', 400],
    ['/payments?since=1&since=2', 400],
    ['/payments?phase=__proto__', 400],
    ['/payments?phase[]=accepted', 200, 400],
    [`/payments?minAmount=${'9'.repeat(78)}`, 400],
    [`/payments?minAmount=${'9'.repeat(7_000)}`, 400],
    ['/payments?minAmount=2&maxAmount=1', 400],
    ['/payments?tenant=shop-tenant&role=provider&payer=0x00', 200],
    ['/totals?since=0&until=999999999999', 200],
    ['/export?format=xml', 400],
    ['/export?format=csv&phase=finalized', 200],
    [`/payments/0x${'00'.repeat(32)}`, 404],
    ['/payments/constructor', 404],
    ['/payments/..%2f..%2fadmin%2fstatus', 404],
  ]
  it('gets an answer or a mistake, whatever it asks for', async () => {
    for (const [path, ...statuses] of queries) {
      const heard = await ask(path, good.payer)
      expect(heard.statuses, `${path}: ${heard.text.slice(0, 300)}`).toHaveLength(1)
      expect(statuses, path).toContain(heard.statuses[0])
      expect(heard.text).not.toMatch(/shop-tenant|till-actor/)
    }
  })

  it('that opens exports and reads none stops only itself', async () => {
    const before = facilitatorKiB(net)
    const headers = [`Authorization: Bearer ${good.payer}`]
    const deaf: RawSocket[] = []
    for (let i = 0; i < 30; i++) {
      const wire = await openSocket(net.facilitatorUrl, nextAddress())
      wire.socket.pause()
      wire.socket.write(request('GET', '/history/export', { headers, keep: true }).repeat(20))
      deaf.push(wire)
    }
    expect((await ask('/payments', good.provider)).statuses).toEqual([200])
    expect((await fetch(`${net.facilitatorUrl}/health`)).status).toBe(200)
    expect(facilitatorKiB(net) - before).toBeLessThan(growthKiBMax)
    for (const { socket } of deaf) socket.destroy()
    await Promise.all(deaf.map(({ closed }) => closed))
  })
})

describe('after all of that', () => {
  it('the log has no defect, and no token, signature, secret or name of a participant', () => {
    const text = logText()
    const defects = text.split('\n').filter((line) => line !== '' && !/^\{"level":[34]0,/.test(line))
    expect(defects).toEqual([])
    for (const hidden of [secret, 'eyJ', 'wants you to sign in', ...Object.values(names)]) {
      expect(text).not.toContain(hidden)
    }
  })
})
