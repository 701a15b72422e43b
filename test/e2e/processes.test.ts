import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  developmentRoles,
  type LocalNetwork,
  type LocalNetworkOptions,
  shopRoutes,
  startLocalNetwork,
} from '@svc-zerc20/devnet'
import { Offer } from '@svc-zerc20/protocol'
import type { PaymentRequirements } from '@x402/core/types'
import { createPublicClient, type Hex, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fetchOffer, payOffer } from '../interop/support/payments.js'
import { paying, receipt } from '../interop/support/wire.js'
import { type NodeProcess, startNode } from '../support/node-process.js'
import { until } from '../support/until.js'

const script = (name: string) => fileURLToPath(new URL(`../../examples/dist/${name}.js`, import.meta.url))
const payer = privateKeyToAccount(developmentRoles.payer.privateKey)
const state = mkdtempSync(join(tmpdir(), 'svc-example-buyer-'))
afterAll(() => rmSync(state, { recursive: true }))
const shopSecret = 'the secret of the shop that is started again'

const run = (name: string, args: readonly string[], env: Record<string, string>) =>
  startNode([script(name), ...args], env)

/** Buys with the example as a user would: one command, keys in the environment. */
async function buy({ rpcUrl, deployment }: LocalNetwork, url: string, mode: string) {
  const { code, stdout, stderr } = await run('buyer', [url], {
    SVC_PAYER_PK: developmentRoles.payer.privateKey,
    SVC_RPC_URL: rpcUrl,
    SVC_MODE: mode,
    SVC_MAX_PER_PAYMENT: shopRoutes.dear.price,
    SVC_MAX_TOTAL: `${BigInt(shopRoutes.dear.price) * 10n}`,
    SVC_ALLOWED_TOKEN: deployment.token,
    SVC_STATE_DIR: state,
  }).ended
  return { code, stdout, stderr }
}

/** Starts the example shop on a running facilitator. */
async function openShop({ facilitatorUrl, deployment }: LocalNetwork) {
  const shop = run('shop', [], {
    FACILITATOR_URL: facilitatorUrl,
    SHOP_PORT: '0',
    SHOP_TOKEN: deployment.token,
    SHOP_SECRET: shopSecret,
  })
  const url = await new Promise<string>((resolve, reject) => {
    shop.onOutput(() => {
      const line = /^\{.*\}$/m.exec(shop.output.stdout)?.[0]
      if (line !== undefined) resolve(JSON.parse(line).url)
    })
    shop.ended.then(({ how, stderr }) => reject(new Error(`the shop ended with ${how}: ${stderr}`)))
  })
  return { ...shop, url }
}

async function stop({ signal, ended }: NodeProcess): Promise<number | null> {
  signal('SIGTERM')
  return (await ended).code
}

describe('facilitator and shop as processes', () => {
  let net: LocalNetwork
  beforeAll(async () => {
    net = await startLocalNetwork({ shopScript: script('shop') })
  })
  afterAll(() => net.close())

  for (const mode of ['permit', 'self-transfer']) {
    it.each(Object.entries(shopRoutes))(
      `R-134 the example buyer buys the %s route by ${mode}`,
      async (_, route) => {
        const { code, stdout, stderr } = await buy(net, `${net.shopUrl}${route.path}`, mode)
        expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
        expect(stdout).toContain('200 {"thought":')
        const hash = /burned in (0x[0-9a-f]{64})/.exec(stdout)?.[1] as `0x${string}`
        const client = createPublicClient({ transport: http(net.rpcUrl) })
        expect((await client.getTransactionReceipt({ hash })).status).toBe('success')
      },
    )
  }

  it('no key and no recipient is written to the logs', () => {
    const logs = ['facilitator.log', 'shop.log'].map((name) =>
      readFileSync(join(net.directory, name), 'utf8'),
    )
    expect(logs[0]).toContain('payment.accepted')
    const { payer, treasury, relayer, provider } = developmentRoles
    const secrets = [payer, treasury, relayer, provider].map(({ privateKey }) => privateKey.slice(2))
    for (const secret of [...secrets, provider.address, net.adminToken]) {
      expect(logs.join('').toLowerCase()).not.toContain(secret.toLowerCase())
    }
  })

  it('the shop stops on SIGTERM, and the facilitator goes on serving the one started after it', async () => {
    const { shop } = net.pids
    if (shop === undefined) throw new Error('there is no shop process')
    process.kill(shop, 'SIGTERM')
    expect(await net.daemonEnded).toBe('shop ended with 0')

    const second = await openShop(net)
    try {
      expect((await buy(net, `${second.url}/cheap`, 'permit')).code).toBe(0)
      expect((await fetch(`${net.facilitatorUrl}/supported`)).status).toBe(200)
    } finally {
      expect(await stop(second)).toBe(0)
    }
  })

  it('an offer outlives the shop that made it, when the next one has its secret', async () => {
    const first = await openShop(net)
    const offer = await fetchOffer(`${first.url}/cheap`)
    const payment = await payOffer({ ...net, payer }, offer, { mode: 'self-transfer' })
    expect(await stop(first)).toBe(0)
    const second = await openShop(net)
    try {
      const served = await fetch(`${second.url}/cheap`, paying(payment))
      expect(served.status).toBe(200)
      expect(receipt(served).transaction).toBe(payment.payload.burnTxHash)
    } finally {
      expect(await stop(second)).toBe(0)
    }
  })
})

/** A facilitator whose settle waits for a burn that is broadcast and not mined. */
async function startWithSettleUnderWay(config: LocalNetworkOptions['config'] = {}) {
  const net = await startLocalNetwork({ config })
  const { chain, pids, facilitatorUrl } = net
  if (chain === undefined || pids.facilitator === undefined) throw new Error('a part did not start')
  const post = (path: string, body: object) =>
    fetch(`${facilitatorUrl}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }).then((response) => response.json())
  // A busy machine may not have mined the first address yet.
  await until(async () => (await fetch(`${facilitatorUrl}/ready`)).ok)
  const challenge = await post('/challenge', { amount: '1000' })
  const offer = Offer.fromChallenge(challenge, Date.now() / 1000) as PaymentRequirements
  const paymentPayload = await payOffer({ ...net, payer }, offer)
  await chain.pauseMining()
  const settling = post('/settle', { x402Version: 2, paymentPayload, paymentRequirements: offer })
  const answer = settling.catch(() => 'none')
  const sent = (tag: string) =>
    chain.request('eth_getTransactionCount', [developmentRoles.relayer.address, tag]) as Promise<Hex>
  await until(async () => (await sent('pending')) !== (await sent('latest')))
  return { ...net, chain, answer, terminate: () => process.kill(pids.facilitator ?? 0, 'SIGTERM') }
}

describe('the facilitator on SIGTERM', () => {
  it('R-071 answers the settle it is in the middle of, then ends at once', async () => {
    const net = await startWithSettleUnderWay()
    try {
      net.terminate()
      await net.chain.resumeMining()
      expect(await net.answer).toMatchObject({ success: true, extra: { phase: 'accepted' } })
      expect(await net.daemonEnded).toBe('facilitator ended with 0')
      await expect(fetch(`${net.facilitatorUrl}/supported`)).rejects.toThrow()
    } finally {
      await net.close()
    }
  })

  it('R-071 ends when the grace is over, whatever is still under way', async () => {
    // Only the shutdown grace can end this in time: nothing is mined, and the settle would wait for ten minutes.
    const net = await startWithSettleUnderWay({
      daemon: { shutdown_grace_ms: 200 },
      settlement: { receipt_poll_ms: 600_000 },
    })
    try {
      net.terminate()
      expect(await net.daemonEnded).toBe('facilitator ended with 0')
      expect(await net.answer).toBe('none')
    } finally {
      await net.close()
    }
  })
})
