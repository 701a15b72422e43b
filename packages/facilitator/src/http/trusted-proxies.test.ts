import { describe, expect, it } from 'vitest'
import { minimalConfig } from '../../test/config.js'
import { connectionBounds } from '../../test/connections.js'
import { parseConfig } from '../config/config.js'
import { createServer } from './server.js'

/** The caller's address as the limits see it, for a request that came from `from` with this header. */
async function addressSeen(trustedProxies: string | string[] | undefined, from: string, forwarded: string) {
  const app = createServer({
    chainId: 31337,
    trustedProxies,
    bodyBytesMax: 1024,
    connections: connectionBounds,
    log: () => undefined,
  })
  app.get('/ip', async (request) => ({ ip: request.ip }))
  const answer = await app.inject({
    url: '/ip',
    remoteAddress: from,
    headers: { 'x-forwarded-for': forwarded },
  })
  await app.close()
  return (answer.json() as { ip: string }).ip
}

describe('R-059 listen.trusted_proxies', () => {
  it.each([
    ['unset trusts nobody', undefined, '10.0.0.1', '1.1.1.1', '10.0.0.1'],
    ['an address', ['10.0.0.1'], '10.0.0.1', '1.1.1.1', '1.1.1.1'],
    ['another address', ['10.0.0.2'], '10.0.0.1', '1.1.1.1', '10.0.0.1'],
    ['a block', ['10.0.0.0/24'], '10.0.0.77', '1.1.1.1', '1.1.1.1'],
    ['outside the block', ['10.0.0.0/24'], '10.0.1.1', '1.1.1.1', '10.0.1.1'],
    ['one string with commas', '10.0.0.1, 10.0.0.2', '10.0.0.2', '1.1.1.1', '1.1.1.1'],
    ['what the caller wrote itself', ['10.0.0.1'], '10.0.0.1', '9.9.9.9, 1.1.1.1', '1.1.1.1'],
    ['a chain of proxies', ['10.0.0.0/8'], '10.0.0.1', '9.9.9.9, 1.1.1.1, 10.2.2.2', '1.1.1.1'],
    ['IPv6', ['fd00::/8'], 'fd00::1', '2001:db8::5', '2001:db8::5'],
  ] as const)('%s', async (_, proxies, from, forwarded, seen) => {
    expect(await addressSeen(proxies as string[] | undefined, from, forwarded)).toBe(seen)
  })

  it.each([[['10.0.0.1', '10.1.0.0/16']], ['127.0.0.1, ::1'], [['loopback']]])(
    'reaches the server as it stands in the file: %j',
    (given) => {
      const text = minimalConfig({ listen: `trusted_proxies = ${JSON.stringify(given)}` })
      expect(parseConfig(text).listen.trusted_proxies).toEqual(given)
    },
  )
})
