import { type Address, parseAddress, SvcError } from '@svc-zerc20/protocol'
import type { Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { createSiweMessage, parseSiweMessage } from 'viem/siwe'
import { describe, expect, it } from 'vitest'
import { stoppedClock } from '../../../../../test/support/clocks.js'
import { until } from '../../../../../test/support/until.js'
import { scriptedRpc } from '../../../test/scripted-rpc.js'
import { seededRandom } from '../../../test/seeded-random.js'
import { createMemoryStore } from '../../../test/store.js'
import { limits } from '../../config/limits.js'
import { createUsedNonces } from '../../store/adapters/logins.js'
import { createWalletLogin } from './wallet-login.js'

const accounts = {
  payer: privateKeyToAccount(generatePrivateKey()),
  provider: privateKeyToAccount(generatePrivateKey()),
  stranger: privateKeyToAccount(generatePrivateKey()),
}
type Who = keyof typeof accounts

const addressOf = (who: Who) => parseAddress(accounts[who].address) as Address
const participants = {
  payer: { tenant: 'acme', actor: 'buyer-7', address: addressOf('payer') },
  provider: { tenant: 'shop', actor: 'till-1', address: addressOf('provider') },
}
const yes = `0x1626ba7e${'0'.repeat(56)}`

type Batch = ReturnType<typeof scriptedRpc>['batch']

function world(options: { url?: string; chainId?: number; seed?: number; batch?: Batch } = {}) {
  const { url = 'https://pay.example:8443', chainId = 31_337, seed = 1 } = options
  const clock = stoppedClock()
  const node = scriptedRpc({ eth_call: () => '0x' })
  const random = seededRandom(seed)
  const login = createWalletLogin({
    participants,
    url,
    chainId,
    tokens: { issue: async (role) => ({ token: `token of the ${role}`, role, expiresAt: 1 as never }) },
    rpc: { batch: options.batch ?? node.batch },
    clock,
    random,
    key: random.bytes(32),
    used: createUsedNonces(createMemoryStore(clock).store),
  })
  const messageFor = (who: Who) => login.challenge(addressOf(who)).message
  const sign = (who: Who, message: string) => accounts[who].signMessage({ message })
  /** Signs, by default with the key of the account of the message. */
  const logIn = async (who: Who, message = messageFor(who)) =>
    login.login({ message, signature: await sign(who, message) })
  return { login, clock, asked: node.asked, messageFor, sign, logIn }
}

/** Without the cases that only a node could tell. */
const refused = { ok: false, reason: 'login_refused' }

describe('wallet login', () => {
  it.each(['payer', 'provider'] as const)(
    'R-143 gives the %s a token for a signature by its key, without asking the chain',
    async (role) => {
      const { logIn, asked } = world()
      expect(await logIn(role)).toMatchObject({ ok: true, value: { role, token: `token of the ${role}` } })
      expect(asked).toEqual([])
    },
  )

  it('asks for a message of EIP-4361, as other libraries write and read it', () => {
    const { login, clock } = world({ url: 'https://pay.example' })
    const { message, expiresAt } = login.challenge(addressOf('payer'))
    const now = clock.now()
    const fields = {
      address: accounts.payer.address,
      domain: 'pay.example',
      uri: 'https://pay.example/history/login',
      version: '1',
      chainId: 31_337,
      statement: expect.stringContaining('moves no money'),
      nonce: expect.stringMatching(/^[a-z0-9]{56}$/),
      issuedAt: new Date(now),
      expirationTime: new Date(now + 300_000),
    }
    const parsed = parseSiweMessage(message)
    expect(parsed).toEqual(fields)
    expect(createSiweMessage(parsed as Parameters<typeof createSiweMessage>[0])).toBe(message)
    expect(expiresAt).toBe(now / 1000 + 300)
  })

  it('asks strangers for the same message, with a nonce that never comes twice', () => {
    const { messageFor } = world()
    const shapeOf = (who: Who) =>
      messageFor(who)
        .replace(accounts[who].address, '')
        .replace(/Nonce: .*/, '')
    expect(shapeOf('stranger')).toBe(shapeOf('payer'))
    expect(messageFor('payer')).not.toBe(messageFor('payer'))
  })

  it.each([
    ['http://127.0.0.1:4032', '127.0.0.1:4032'],
    ['http://[::1]:4032', '[::1]:4032'],
    ['http://facilitator:4032', 'facilitator:4032'],
    ['https://pay.example/svc', 'pay.example'],
  ])('at %s has the domain %s', async (url, domain) => {
    const { messageFor, logIn } = world({ url })
    expect(messageFor('payer')).toContain(`${domain} wants you to sign in`)
    expect(messageFor('payer')).toContain(`\nURI: ${url}/history/login\n`)
    expect(await logIn('payer')).toMatchObject({ ok: true })
  })
})

describe('R-143 a hostile login', () => {
  it('with a used message: login_reused, however often and by whomever', async () => {
    const { logIn, messageFor, login, sign } = world()
    const message = messageFor('payer')
    expect(await logIn('payer', message)).toMatchObject({ ok: true })
    expect(await logIn('payer', message)).toMatchObject({ reason: 'login_reused' })
    const signature = await sign('stranger', message)
    expect(await login.login({ message, signature })).toMatchObject({ reason: 'login_reused' })
  })

  it('at the same moment as the same login: one of them gets in', async () => {
    const { login, messageFor, sign } = world()
    const message = messageFor('payer')
    const answer = { message, signature: await sign('payer', message) }
    const results = await Promise.all(Array.from({ length: 8 }, () => login.login(answer)))
    expect(results.filter(({ ok }) => ok)).toHaveLength(1)
    expect(results.filter((result) => !result.ok && result.reason === 'login_reused')).toHaveLength(7)
  })

  it('after five minutes: login_expired, used or not', async () => {
    const { logIn, messageFor, clock } = world()
    const [early, late] = [messageFor('payer'), messageFor('payer')]
    clock.advance(299_000)
    expect(await logIn('payer', early)).toMatchObject({ ok: true })
    clock.advance(1_000)
    expect(await logIn('payer', early)).toMatchObject({ reason: 'login_expired' })
    expect(await logIn('payer', late)).toMatchObject({ reason: 'login_expired' })
  })

  it('that an attempt with a wrong signature came before still gets in', async () => {
    const { login, logIn, messageFor, sign } = world()
    const message = messageFor('payer')
    const signature = await sign('stranger', message)
    expect(await login.login({ message, signature })).toMatchObject(refused)
    expect(await logIn('payer', message)).toMatchObject({ ok: true })
  })

  const changes: [string, (message: string) => string][] = [
    ['another domain', (text) => text.replace('pay.example:8443 wants', 'evil.example wants')],
    ['a domain without its port', (text) => text.replace('pay.example:8443 wants', 'pay.example wants')],
    ['a scheme before the domain', (text) => `https://${text}`],
    ['another chain', (text) => text.replace('Chain ID: 31337', 'Chain ID: 1')],
    ['a chain in another spelling', (text) => text.replace('Chain ID: 31337', 'Chain ID: 031337')],
    ['another URI', (text) => text.replace('/history/login', '/history/payments')],
    ['another version', (text) => text.replace('Version: 1', 'Version: 2')],
    ['another statement', (text) => text.replace('moves no money', 'moves all money')],
    ['an extra line', (text) => `${text}\nRequest ID: 1`],
    ['a resource', (text) => `${text}\nResources:\n- https://evil.example`],
    ['a line break at the end', (text) => `${text}\n`],
    ['Windows line breaks', (text) => text.replaceAll('\n', '\r\n')],
    ['a space at the end of a line', (text) => text.replace('Version: 1', 'Version: 1 ')],
    ['no expiry', (text) => text.replace(/\nExpiration Time: .*/, '')],
    ['a later expiry', (text) => text.replace(/Expiration Time: 2/, 'Expiration Time: 3')],
    ['a time in another form', (text) => text.replace('.000Z\nExp', '+00:00\nExp')],
    ['a time that is none', (text) => text.replace(/Issued At: .*/, 'Issued At: now')],
    [
      'a time beyond all years',
      (text) => text.replace(/Issued At: .*/, 'Issued At: +275760-09-13T00:00:00.000Z'),
    ],
    ['a second nonce', (text) => `Nonce: ${'0'.repeat(56)}\n${text}`],
    [
      'a nonce in upper case',
      (text) => text.replace(/Nonce: .*/, (line) => `Nonce: ${line.slice(7).toUpperCase()}A`),
    ],
    ['the address in lower case', (text) => text.replace(accounts.payer.address, addressOf('payer'))],
    ['nothing in it', () => ''],
    ['two thousand lines', () => '\n'.repeat(2_000)],
    ['more text than any message', (text) => text.padEnd(3_000)],
  ]
  it.each(changes)('with %s: login_malformed', async (_, change) => {
    const { logIn, messageFor, asked } = world()
    const message = change(messageFor('payer'))
    expect(await logIn('payer', message)).toMatchObject({ ok: false, reason: 'login_malformed' })
    expect(asked).toEqual([])
  })

  it('with a message that differs in any one character is refused, however well it is signed', async () => {
    // A wallet that takes every signature.
    const { login, messageFor } = world({ batch: async (all) => all.map(() => ({ result: yes })) })
    const message = messageFor('payer')
    for (const at of message.split('').keys()) {
      for (const character of ['0', 'a', 'Z', ' ', '\n', '']) {
        if (character === message[at]) continue
        const changed = `${message.slice(0, at)}${character}${message.slice(at + 1)}`
        expect(await login.login({ message: changed, signature: '0xabcd' })).toMatchObject({ ok: false })
      }
    }
    expect(await login.login({ message, signature: '0xabcd' })).toMatchObject({ ok: true })
  })

  const forgeries: [string, (message: string) => string][] = [
    ['for another address', (text) => text.replace(accounts.stranger.address, accounts.payer.address)],
    ['of nobody', (text) => text.replace(/Nonce: .*/, `Nonce: ${'0'.repeat(56)}`)],
    ['that is too short', (text) => text.replace(/Nonce: .*/, 'Nonce: 00000000')],
    [
      'with another random part',
      (text) => text.replace(/Nonce: ./, (start) => `${start.slice(0, -1)}${start.endsWith('0') ? 1 : 0}`),
    ],
    [
      'of another time',
      (text) => {
        const [issued = '', expiry = ''] = text.match(/\d{4}-\d\d-\d\dT.*Z/g) ?? []
        const later = (time: string) => new Date(Date.parse(time) + 60_000).toISOString()
        return text.replace(expiry, later(expiry)).replace(issued, later(issued))
      },
    ],
  ]
  it.each(forgeries)('with a nonce %s: login_unknown', async (_, change) => {
    const { logIn, messageFor, asked } = world()
    const message = change(messageFor('stranger'))
    const who = message.includes(accounts.payer.address) ? 'payer' : 'stranger'
    expect(await logIn(who, message)).toMatchObject({ ok: false, reason: 'login_unknown' })
    expect(asked).toEqual([])
  })

  it('with a nonce of another process, or from before a restart: login_unknown', async () => {
    const message = world({ seed: 2 }).messageFor('payer')
    expect(await world().logIn('payer', message)).toMatchObject({ reason: 'login_unknown' })
  })

  it('with a message of another facilitator or another chain: login_malformed', async () => {
    for (const other of [world({ url: 'https://other.example' }), world({ chainId: 1 })]) {
      const message = other.messageFor('payer')
      expect(await world().logIn('payer', message)).toMatchObject({ reason: 'login_malformed' })
    }
  })

  const groupOrder = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
  const malleate = (signature: Hex): string => {
    const s = (groupOrder - BigInt(`0x${signature.slice(66, 130)}`)).toString(16).padStart(64, '0')
    return `${signature.slice(0, 66)}${s}${signature.endsWith('1b') ? '1c' : '1b'}`
  }
  const signatures: [string, string, (signature: Hex) => string][] = [
    ['malleated', 'login_refused', malleate],
    ['of another length', 'login_refused', (signature) => `${signature}00`],
    ['with another v', 'login_refused', (signature) => `${signature.slice(0, -2)}1d`],
    ['of zeros', 'login_refused', () => `0x${'00'.repeat(65)}`],
    ['of ones', 'login_refused', () => `0x${'ff'.repeat(65)}`],
    ['that is empty', 'login_refused', () => '0x'],
    ['without 0x', 'login_malformed', (signature) => signature.slice(2)],
    ['of half a byte', 'login_malformed', (signature) => signature.slice(0, -1)],
    ['of no hex', 'login_malformed', () => '0xzz'],
    ['of five thousand bytes', 'login_malformed', () => `0x${'00'.repeat(5_000)}`],
  ]
  it.each(signatures)('with a signature %s: %s', async (_, reason, change) => {
    const { login, messageFor, sign } = world()
    const message = messageFor('payer')
    const signature = change(await sign('payer', message))
    expect(await login.login({ message, signature })).toMatchObject({ ok: false, reason })
  })

  it('signed by another participant, or by a stranger for itself: login_refused', async () => {
    const { login, logIn, messageFor, sign } = world()
    const message = messageFor('payer')
    const signature = await sign('provider', message)
    expect(await login.login({ message, signature })).toMatchObject(refused)
    expect(await logIn('stranger')).toMatchObject(refused)
  })
})

describe('R-143 a contract wallet', () => {
  const wallets = (answers: Record<string, unknown>): Batch =>
    scriptedRpc({
      eth_call: ({ to }: { to: string }) => {
        const answer = answers[to] ?? '0x'
        if (answer instanceof Error) throw answer
        return answer
      },
    }).batch
  const contractLogin = async (answer: unknown, who: Who = 'payer') => {
    const { login, messageFor } = world({ batch: wallets({ [addressOf('payer')]: answer }) })
    return login.login({ message: messageFor(who), signature: '0xabcd' })
  }

  it('that says yes gets in, for its own address alone', async () => {
    expect(await contractLogin(yes)).toMatchObject({ ok: true, value: { role: 'payer' } })
    expect(await contractLogin(yes, 'provider')).toMatchObject(refused)
    expect(await contractLogin(yes, 'stranger')).toMatchObject(refused)
  })

  it.each([
    ['says no', `0xffffffff${'0'.repeat(56)}`],
    ['has no code', '0x'],
    ['reverts', new Error('execution reverted')],
    ['says true', `0x${'0'.repeat(63)}1`],
    ['says yes in four bytes', '0x1626ba7e'],
    ['says yes at the wrong end', `0x${'0'.repeat(56)}1626ba7e`],
    ['says yes and more', `${yes}00`],
    ['says a megabyte', `${yes}${'00'.repeat(1_000_000)}`],
    ['says no hex', { yes }],
    ['says nothing', null],
  ])('that %s is refused', async (_, answer) => {
    expect(await contractLogin(answer)).toMatchObject(refused)
  })

  it('is asked alike whoever logs in, so that nobody learns from the time or the node who is configured', async () => {
    const calls = await Promise.all(
      (['payer', 'provider', 'stranger'] as const).map(async (who) => {
        const asked: unknown[] = []
        const batch: Batch = async (all) => {
          asked.push(all.map(({ params: [call] }) => (call as { to: string }).to))
          return all.map(() => ({ result: '0x' }))
        }
        const { login, messageFor } = world({ batch })
        expect(await login.login({ message: messageFor(who), signature: '0xabcd' })).toMatchObject(refused)
        return asked
      }),
    )
    const both = [[addressOf('payer'), addressOf('provider')]]
    expect(calls).toEqual([both, both, both])
  })

  it('is looked for once a minute while no wallet is a contract: strangers cannot spend our calls to the node', async () => {
    let answers = ['0x', '0x']
    let calls = 0
    const batch: Batch = async (all) => {
      calls += 1
      return all.map((_, i) => ({ result: answers[i] }))
    }
    const { login, messageFor, clock } = world({ batch })
    const attempt = (who: Who) => login.login({ message: messageFor(who), signature: '0xabcd' })
    for (let i = 0; i < 5; i++) expect(await attempt('stranger')).toMatchObject(refused)
    expect(calls).toBe(1)
    // The provider's wallet is deployed.
    answers = ['0x', yes]
    clock.advance(59_000)
    expect(await attempt('provider')).toMatchObject(refused)
    clock.advance(1_000)
    for (let i = 0; i < 5; i++) expect(await attempt('stranger')).toMatchObject(refused)
    expect(await attempt('provider')).toMatchObject({ ok: true, value: { role: 'provider' } })
    expect(calls).toBe(7)
  })

  it('behind a node that is gone fails alike whoever logs in, and the message can be used again', async () => {
    let isUp = false
    const batch: Batch = async (all) => {
      if (!isUp) throw new SvcError('rpc_unreachable', 'the RPC at 127.0.0.1 did not answer')
      return all.map(() => ({ result: yes }))
    }
    const { login, messageFor } = world({ batch })
    const attempt = (who: Who, message = messageFor(who)) => login.login({ message, signature: '0xabcd' })
    await expect(attempt('stranger')).rejects.toMatchObject({ code: 'rpc_unreachable' })
    const message = messageFor('payer')
    await expect(attempt('payer', message)).rejects.toMatchObject({ code: 'rpc_unreachable' })
    isUp = true
    expect(await attempt('payer', message)).toMatchObject({ ok: true })
    expect(await attempt('payer', message)).toMatchObject({ reason: 'login_reused' })
  })

  it('is asked by a bounded number of logins at once; keys need no turn', async () => {
    const waiting: (() => void)[] = []
    const batch: Batch = (all) =>
      new Promise((resolve) => waiting.push(() => resolve(all.map(() => ({ result: '0x00' })))))
    const { login, logIn, messageFor } = world({ batch })
    const attempt = () => login.login({ message: messageFor('stranger'), signature: '0xabcd' })
    const slow = Array.from({ length: limits.walletCallsInFlightMax }, attempt)
    expect(await attempt()).toMatchObject({ reason: 'too_many_requests' })
    expect(await logIn('payer')).toMatchObject({ ok: true })
    for (const end of waiting) end()
    for (const result of await Promise.all(slow)) expect(result).toMatchObject(refused)
    const before = waiting.length
    const next = attempt()
    await until(() => waiting.length > before)
    waiting.at(-1)?.()
    expect(await next).toMatchObject(refused)
  })
})

it('a wallet with too many logins gets in later, keeps nobody else out, and strangers do not learn that it is one of the two', async () => {
  const answer = { result: yes }
  const { login, messageFor } = world({ batch: async (all) => all.map(() => answer) })
  // By contract, because signing a thousand messages takes seconds.
  const logIn = (who: Who) => login.login({ message: messageFor(who), signature: '0x' })
  for (let i = 0; i < limits.usedLoginNoncesMax; i++) await logIn('payer')
  expect(await logIn('payer')).toMatchObject({ reason: 'too_many_requests' })
  expect(await logIn('provider')).toMatchObject({ ok: true })
  answer.result = '0x00'
  for (const who of ['payer', 'stranger'] as const) expect(await logIn(who)).toMatchObject(refused)
})
