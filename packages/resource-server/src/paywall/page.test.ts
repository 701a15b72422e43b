import { createHash } from 'node:crypto'
import { Headers } from '@svc-zerc20/protocol'
import { describe, expect, it } from 'vitest'
import { challengeFor } from '../../test/facilitator.js'
import { createPaywall } from './page.js'
import { svcPaywall } from './provider.js'

const hostile = `"><img src=x onerror=alert(1)></title></script><script>alert(1)</script>'`

const required = (description = 'A report', url = 'https://shop.example/report') => {
  const challenge = challengeFor({
    method: 'POST',
    path: '/challenge',
    authorization: undefined,
    body: { amount: '10000' },
  })
  const { payTo, amount, token, chainId: _, ...extra } = challenge
  const offer = {
    scheme: 'svc-zerc20',
    network: 'eip155:8453',
    asset: token,
    amount,
    payTo,
    maxTimeoutSeconds: 300,
  }
  return {
    x402Version: 2,
    error: 'Payment required',
    resource: { url, description },
    accepts: [
      { scheme: 'exact', network: 'eip155:8453', amount: '1' },
      { ...offer, extra },
    ],
  }
}

/** The contents of every element of this name. */
const inside = (html: string, name: string) =>
  [...html.matchAll(new RegExp(`<${name}>([\\s\\S]*?)</${name}>`, 'g'))].map(([, text]) => text ?? '')

describe('the page of an offer', () => {
  it('says what it costs, what it is for, where, who sells it, and how to pay without a browser', () => {
    const look = { name: 'Example Weather', token: { symbol: 'zUSD', decimals: 6 } }
    const { html } = createPaywall(look).offer(required())
    expect(html).toContain('Example Weather</p>')
    expect(html).toContain('<h1>A report</h1>')
    expect(html).toContain('0.0101 zUSD</b>')
    expect(html).toContain('once, on Base')
    expect(html).toContain("svc-pay pay 'https://shop.example/report'</pre>")
    expect(createPaywall().offer(required()).html).toContain('10100 base units</b>')
  })

  it('does not promise that the chain hides whom one pays, because who relays a burn mostly tells', () => {
    const { html } = createPaywall().offer(required())
    expect(html).toContain('who relays it, which mostly tells whom you pay')
    expect(html).not.toMatch(/no address of the seller/)
  })

  it('names the very style and script that it carries in its policy, and allows no others', () => {
    const { html, headers } = createPaywall({ accent: '#7c3aed' }).offer(required())
    const hashes = ['style', 'script'].flatMap((name) =>
      inside(html, name).map((text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`),
    )
    expect(hashes).toHaveLength(2)
    for (const policy of [headers['content-security-policy'], /policy" content="([^"]+)/.exec(html)?.[1]]) {
      const told = policy?.replaceAll('&#39;', "'") ?? ''
      for (const hash of hashes) expect(told).toContain(hash)
      expect(told).toMatch(/^default-src 'none';/)
      expect(told).not.toContain('unsafe')
    }
    expect(html).not.toMatch(/ (?:style|on\w+)="/)
  })

  it('gives the script its own offers only, in the form of the header', () => {
    const told = required()
    const [, encoded] = /data-required="([^"]*)"/.exec(createPaywall().offer(told).html) ?? []
    expect(Headers.decode(encoded)).toEqual({ ok: true, value: { accepts: [told.accepts[1]] } })
  })

  it('takes nothing that a seller or a visitor wrote for markup', () => {
    const look = { name: hostile, token: { symbol: hostile, decimals: 6 } }
    const { html } = createPaywall(look).offer(required(hostile, `https://shop.example/'${hostile}`))
    expect(html).not.toContain('<img')
    expect(inside(html, 'script')).toHaveLength(1)
    expect(html).not.toContain('alert(1)</script>')
    // Nor does the address end the quotes of the command.
    expect(html).toMatch(/pay 'https:\/\/shop\.example\/%27[^<>'\s]*'<\/pre>/)
    expect(html).not.toMatch(/pay '[^<]*&#39;[^<]*<\/pre>/)
    expect(
      createPaywall({ name: hostile }).refusal({ reason: 'x', error: hostile, action: hostile }).html,
    ).not.toMatch(/<img|alert\(1\)<\/script/)
  })

  it.each([
    ['a logo from elsewhere', { logo: 'https://cdn.example/logo.png' }],
    ['a logo from another host by a path', { logo: '//cdn.example/logo.png' }],
    ['a logo that runs', { logo: 'javascript:alert(1)' }],
    ['a colour with more behind it', { accent: '#fff;}body{display:none' }],
    ['decimals that no token has', { token: { symbol: 'A', decimals: 78 } }],
  ])('refuses %s when the route is set up', (_, look) => {
    expect(() => createPaywall(look)).toThrow(expect.objectContaining({ code: 'invalid_paywall' }))
  })

  it('shows a logo of the own origin, and the seller’s colour with the text that is easier to read on it', () => {
    const { html } = createPaywall({ logo: '/logo.svg', accent: '#ffd400' }).offer(required())
    expect(html).toContain('<img src="/logo.svg" alt="">')
    expect(html).toContain('--accent:#ffd400;--on-accent:#000')
    expect(createPaywall({ accent: '#1d4ed8' }).offer(required()).html).toContain('--on-accent:#fff')
  })
})

describe('the paywall for the official middleware', () => {
  it('is a provider of its own', () => {
    const html = svcPaywall().generateHtml(required() as never, { appName: 'Example Shop' })
    expect(html).toContain('Example Shop</p>')
    expect(html).toContain('data-required=')
  })

  it('is a handler beside those of other networks, for its own offers alone', () => {
    const paywall = svcPaywall({ name: 'Ours' })
    const told = required()
    expect(told.accepts.map((entry) => paywall.supports(entry))).toEqual([false, true])
    expect(paywall.generateHtml(told.accepts[1] ?? {}, told, { appName: 'Theirs' })).toContain('Ours</p>')
  })
})
