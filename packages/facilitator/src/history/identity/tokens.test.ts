import { accept, Secret } from '@svc-zerc20/protocol'
import { decodeJwt, jwtVerify } from 'jose'
import { describe, expect, it } from 'vitest'
import { stoppedClock } from '../../../../../test/support/clocks.js'
import { decode, forge, hostileTokens } from '../../../test/hostile-tokens.js'
import { seededRandom } from '../../../test/seeded-random.js'
import { createTokens } from './tokens.js'

const url = 'https://pay.example'
const secret = 'an identity secret of 40 characters or so'
const older = 'the identity secret that was used before it'
const participants = {
  payer: { tenant: 'acme', actor: 'buyer-7' },
  provider: { tenant: 'shop', actor: 'till-1' },
}

function world({ identitySecret = secret, clock = stoppedClock(), at = url } = {}) {
  const settings = { identitySecret: new Secret(identitySecret), participants }
  const tokens = createTokens({ settings, url: at, clock, random: seededRandom(1) })
  const bearer = async () => `Bearer ${(await tokens.issue('payer')).token}`
  return { tokens, clock, bearer, now: Math.floor(clock.now() / 1000) }
}

describe('an identity token', () => {
  it.each(['payer', 'provider'] as const)('R-143 lets the %s in for 15 minutes', async (role) => {
    const { tokens, clock, now } = world()
    const { token, ...issued } = await tokens.issue(role)
    expect(issued).toEqual({ role, expiresAt: now + 900 })
    const participant = accept({ role, ...participants[role], expiresAt: now + 900 })
    expect(await tokens.read(`Bearer ${token}`)).toEqual(participant)
    clock.advance(899_000)
    expect(await tokens.read(`Bearer ${token}`)).toEqual(participant)
    clock.advance(1_000)
    expect(await tokens.read(`Bearer ${token}`)).toMatchObject({ reason: 'token_expired' })
  })

  it('is a JWT that any library reads, with an id of its own', async () => {
    const { tokens, now } = world()
    const [{ token }, { token: second }] = [await tokens.issue('payer'), await tokens.issue('payer')]
    const currentDate = new Date(now * 1000)
    const { payload, protectedHeader } = await jwtVerify(token, Buffer.from(secret), { currentDate })
    expect(protectedHeader).toEqual({ alg: 'HS256', typ: 'history+jwt' })
    expect(payload).toEqual({
      iss: url,
      aud: url,
      sub: 'buyer-7',
      tenant: 'acme',
      role: 'payer',
      iat: now,
      exp: now + 900,
      jti: expect.stringMatching(/^[\w-]{22}$/),
    })
    expect(decodeJwt(second).jti).not.toBe(payload.jti)
  })

  it('may have the scheme in any case and spaces around it', async () => {
    const { tokens, bearer } = world()
    const [, token = ''] = (await bearer()).split(' ')
    for (const value of [`bearer ${token}`, `BEARER   ${token}`, `Bearer ${token} `]) {
      expect(await tokens.read([value])).toMatchObject({ ok: true })
    }
  })

  it('is good although the clock of its issuer is a few seconds ahead', async () => {
    const { tokens, bearer, now } = world()
    const [header, payload] = (await bearer()).slice(7).split('.')
    const ahead = (seconds: number) =>
      forge(decode(header), { ...decode(payload), iat: now + seconds, exp: now + 900 }, secret)
    expect(await tokens.read(`Bearer ${ahead(5)}`)).toMatchObject({ ok: true })
    expect(await tokens.read(`Bearer ${ahead(6)}`)).toMatchObject({ reason: 'token_not_yet_valid' })
  })

  it('that claims a longer life is refused', async () => {
    const { tokens, bearer, now } = world()
    const [header, payload] = (await bearer()).slice(7).split('.')
    const long = `Bearer ${forge(decode(header), { ...decode(payload), exp: now + 3_600 }, secret)}`
    expect(await tokens.read(long)).toMatchObject({ reason: 'token_malformed' })
  })

  it('of names beyond ASCII is good', async () => {
    const { clock } = world()
    const named = {
      payer: { tenant: 'Käse & Söhne', actor: '買い手\u2028"' },
      provider: participants.provider,
    }
    const settings = { identitySecret: new Secret(secret), participants: named }
    const tokens = createTokens({ settings, url, clock, random: seededRandom(1) })
    const { token } = await tokens.issue('payer')
    expect(await tokens.read(`Bearer ${token}`)).toMatchObject({ value: named.payer })
  })
})

describe('R-143 a hostile token', async () => {
  const { tokens, now } = world()
  const { token } = await tokens.issue('payer')
  const cases = await hostileTokens({ token, secret, url, now, provider: participants.provider })

  it.each(cases)('$name: $reason', async ({ authorization, reason }) => {
    expect(await tokens.read(authorization)).toMatchObject({ ok: false, reason })
  })

  it('that differs from a good one in any one character is refused', async () => {
    for (const at of token.split('').keys()) {
      for (const character of ['A', 'b', '9', '-', '.', ' ', '~', '']) {
        if (character === token[at]) continue
        const changed = `${token.slice(0, at)}${character}${token.slice(at + 1)}`
        // Blanks around a header value mean nothing.
        if (changed.trim() !== token)
          expect(await tokens.read(`Bearer ${changed}`)).toMatchObject({ ok: false })
      }
    }
  })

  it('has a name of its own in the table, which is long', () => {
    expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length)
    expect(cases.length).toBeGreaterThanOrEqual(25)
  })

  it('of another facilitator with the same secret is refused', async () => {
    const other = world({ at: 'https://other.example' })
    expect(await tokens.read(await other.bearer())).toMatchObject({ reason: 'token_issuer' })
  })
})

describe('R-143 a secret that was replaced', () => {
  it('is good for nothing', async () => {
    const early = await world({ identitySecret: older }).bearer()
    expect(await world().tokens.read(early)).toMatchObject({ reason: 'token_signature' })
  })
})
