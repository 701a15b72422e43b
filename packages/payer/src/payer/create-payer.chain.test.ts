import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { countSignatures } from '../../test/counting-account.js'
import { startHostileSeller } from '../../test/hostile-seller.js'
import { startNetwork, type TestNetwork } from '../../test/network.js'
import { type OfferChanges, randomHex } from '../../test/offers.js'
import { type Step, startPaywall } from '../../test/paywall.js'
import { type CreatePayerOptions, createPayer } from '../index.js'

let net: TestNetwork
const closers: (() => Promise<unknown>)[] = []
beforeAll(async () => {
  net = await startNetwork()
})
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})
afterAll(() => net.close())

async function paywall(steps: Step[] = [], offer: OfferChanges | ((count: number) => OfferChanges) = {}) {
  const seller = await startPaywall(net, { steps, offer })
  closers.push(seller.close)
  return seller
}

async function stateFolder() {
  const folder = await mkdtemp(join(tmpdir(), 'svc-pay-state-'))
  closers.push(() => rm(folder, { recursive: true, force: true }))
  return folder
}

const optionsOf = (state: string, changes: Partial<CreatePayerOptions> = {}): CreatePayerOptions => ({
  account: net.payer,
  rpcUrl: net.rpcUrl,
  network: net.network,
  allowedHosts: ['127.0.0.1'],
  allowedTokens: [net.token],
  maxAmountPerPayment: '1000',
  maxTotal: '10000',
  state,
  ...changes,
  limits: { resendDelayMs: 1, receiptPollMs: 5, noncePollMs: 5, ...changes.limits },
})

const auditOf = async (state: string) =>
  (await readFile(join(state, 'audit.jsonl'), 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { event: string } & Record<string, unknown>)

describe('a quote', () => {
  it('R-090 needs no key, names the price and what each rule says, and signs nothing', async () => {
    const seller = await paywall([], { extra: { fee: { amount: '10', bps: 100 } } })
    const { account: _, ...keyless } = optionsOf('memory')
    const payer = createPayer(keyless)
    const quote = await payer.quote(seller.url)
    expect(quote).toMatchObject({ status: 402, method: 'GET', url: seller.url })
    expect(quote.offers[0]).toMatchObject({ offer: { amount: 1_000n }, fee: '10', isAllowed: true })
    expect(quote.offers[0]?.verdicts.map(({ rule }) => rule)).toEqual([
      ...['host', 'network', 'token', 'per-payment', 'expiry', 'helper', 'deadline'],
      ...['total', 'per-host', 'per-day', 'approval', 'price'],
    ])
    await expect(payer.pay(seller.url)).rejects.toMatchObject({ code: 'key_missing' })
    expect(seller.presented).toHaveLength(0)
  })

  it('of a price above the cap says which rule refuses it', async () => {
    const seller = await paywall([], { amount: '1001' })
    const [offer] = (await createPayer(optionsOf('memory')).quote(seller.url)).offers
    expect(offer?.isAllowed).toBe(false)
    expect(offer?.verdicts.filter(({ passes }) => passes === 'no')).toEqual([
      { rule: 'per-payment', passes: 'no', limit: '1000 base units', asked: '1001', code: 'offer_amount' },
    ])
  })
})

it('a cap per host counts one server under every spelling of its address', async () => {
  const seller = await paywall()
  const payer = createPayer(optionsOf('memory', { allowedHosts: 'any', maxPerHost: '1000' }))
  await payer.pay(seller.url)
  const mapped = seller.url.replace('127.0.0.1', '[::ffff:127.0.0.1]')
  await expect(payer.pay(mapped)).rejects.toMatchObject({ code: 'host_total_exceeded' })
  expect(seller.presented).toHaveLength(1)
})

describe('a quote of a helper', () => {
  it('that is no burner of ours says so before anything is paid', async () => {
    const seller = await paywall([], { extra: { helper: net.token } })
    const [offer] = (await createPayer(optionsOf('memory')).quote(seller.url)).offers
    expect(offer?.verdicts.find(({ passes }) => passes === 'no')).toMatchObject({
      rule: 'helper',
      code: 'offer_helper',
    })
  })
})

describe.each(['permit', 'self-transfer'] as const)('paying by %s', (mode) => {
  it('buys the resource and counts it once, in a log that says what was signed', async () => {
    const seller = await paywall()
    const state = await stateFolder()
    const { response, payment } = await createPayer(optionsOf(state, { mode })).pay(seller.url)
    expect(await response.text()).toBe('the resource')
    expect(payment).toMatchObject({ amount: '1000', token: net.token, isResumed: false })
    expect(payment?.transaction).toMatch(/^0x[0-9a-f]{64}$/)
    const audit = await auditOf(state)
    expect(audit.map(({ event }) => event)).toEqual(['allowed', 'signing', 'paid', 'served'])
    const hash = expect.stringMatching(/^0x[0-9a-f]{64}$/)
    expect(audit[1]).toMatchObject(
      mode === 'permit' ? { permit: hash, burnAuthorization: hash } : { transaction: hash },
    )
    expect(await readFile(join(state, 'audit.jsonl'), 'utf8')).not.toContain(
      seller.presented[0]?.payment.payload,
    )
  })

  it('counts what the chain has: a burn without a receipt is spent, and a receipt without a burn is not', async () => {
    const seller = await startHostileSeller(net, ({ isPaid, settle, demand, offer, response, request }) => {
      if (!isPaid) return demand(offer())
      if (request.url === '/silent') return response.end('the resource')
      return settle(200, { success: true, transaction: randomHex(32) })
    })
    closers.push(seller.close)
    for (const path of ['/silent', '/boasting']) {
      const state = await stateFolder()
      const { response } = await createPayer(optionsOf(state, { mode })).pay(new URL(path, seller.url))
      expect(response.status).toBe(200)
      const events = (await auditOf(state)).map(({ event }) => event)
      expect(events.includes('paid')).toBe(mode === 'self-transfer')
    }
  })

  it('in another process presents the payment whose answer was lost, and pays nothing more', async () => {
    const seller = await paywall(['break'])
    const state = await stateFolder()
    await expect(createPayer(optionsOf(state, { mode })).pay(seller.url)).rejects.toMatchObject({
      code: 'payment_unanswered',
    })
    const held = await net.balanceOf(net.payer.address)
    const { account, signed } = countSignatures(net.payer)
    const { response, payment } = await createPayer(optionsOf(state, { mode, account })).pay(seller.url)
    expect([response.status, payment?.isResumed]).toEqual([200, true])
    expect(signed).toEqual({ typedData: 0, transactions: 0 })
    expect([seller.offers.length, new Set(seller.presented.map(({ header }) => header)).size]).toEqual([1, 1])
    expect(await net.balanceOf(net.payer.address)).toBe(held)
  })

  it('R-098 keeps to a total over processes, per token', async () => {
    const seller = await paywall()
    const state = await stateFolder()
    for (const paid of [1, 2]) {
      await createPayer(optionsOf(state, { mode, maxTotal: '2500' })).pay(seller.url)
      expect(seller.presented).toHaveLength(paid)
    }
    const { account, signed } = countSignatures(net.payer)
    await expect(
      createPayer(optionsOf(state, { mode, maxTotal: '2500', account })).pay(seller.url),
    ).rejects.toMatchObject({
      code: 'total_exceeded',
      rule: { rule: 'total', limit: '2500', asked: '1000 above 2000 already spent or reserved' },
    })
    expect(signed).toEqual({ typedData: 0, transactions: 0 })
  })
})

describe('a payment that was stored', () => {
  it('broadcasts and presents nothing that was stored for a host that is not allowed any more', async () => {
    const seller = await paywall()
    const state = await stateFolder()
    const limits = { receiptWaitMsMax: 50 }
    const buy = (allowedHosts: string[]) =>
      createPayer(optionsOf(state, { mode: 'self-transfer', allowedHosts, limits })).pay(seller.url)
    await net.chain.pauseMining()
    net.chain.setFaults([{ method: 'eth_sendRawTransaction', kind: 'dropResponse', executed: false }])
    await expect(buy(['127.0.0.1'])).rejects.toMatchObject({ code: 'burn_unconfirmed' })
    net.chain.setFaults([])
    const sent = await net.sentBy(net.payer.address)
    // It was signed before, so this is no refusal after which nothing was signed.
    const later = {
      code: 'payment_pending',
      rule: { rule: 'host' },
      todo: expect.stringContaining('Add the host'),
    }
    await expect(buy(['shop.example'])).rejects.toMatchObject(later)
    expect([await net.sentBy(net.payer.address), seller.presented.length]).toEqual([sent, 0])
    await net.chain.resumeMining()
    expect((await buy(['127.0.0.1'])).response.status).toBe(200)
    expect([await net.sentBy(net.payer.address), seller.offers.length]).toEqual([sent + 1, 1])
  })
})

describe('a reservation', () => {
  it('of a payment that a seller refused stays, because the seller still has the signature', async () => {
    const seller = await paywall([{ reason: 'challenge_expired' }])
    const state = await stateFolder()
    const options = optionsOf(state, { maxTotal: '1500' })
    await expect(createPayer(options).pay(seller.url)).rejects.toMatchObject({ code: 'payment_pending' })
    const other = createPayer(options).pay(`${seller.url}?other`)
    await expect(other).rejects.toMatchObject({ code: 'total_exceeded' })
  })

  it('ends when nothing was signed', async () => {
    const seller = await paywall([], (count) =>
      count === 0 ? { extra: { helper: net.relayer.address } } : {},
    )
    const state = await stateFolder()
    const options = optionsOf(state, { maxTotal: '1000' })
    await expect(createPayer(options).pay(seller.url)).rejects.toMatchObject({ code: 'offer_helper' })
    expect((await createPayer(options).pay(seller.url)).response.status).toBe(200)
  })

  it('is refused for totals that somebody removed', async () => {
    const seller = await paywall()
    const state = await stateFolder()
    await createPayer(optionsOf(state)).pay(seller.url)
    await rm(join(state, 'spending'), { recursive: true })
    const { account, signed } = countSignatures(net.payer)
    await expect(createPayer(optionsOf(state, { account })).pay(seller.url)).rejects.toMatchObject({
      code: 'state_unusable',
    })
    expect(signed.typedData).toBe(0)
  })

  it('ends once the deadline has passed on the chain and there is no burn; with a burn it counts as spent', async () => {
    let aheadMs = 0
    const short = () => {
      const soon = Math.floor((Date.now() + aheadMs) / 1_000) + (aheadMs === 0 ? 120 : 300)
      return { extra: { expiresAt: soon, deadline: soon } }
    }
    const seller = await paywall(
      [{ reason: 'challenge_expired' }, { reason: 'challenge_expired', burn: true }],
      short,
    )
    const state = await stateFolder()
    const clock = {
      now: () => Date.now() + aheadMs,
      sleep: (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms)),
    }
    const payer = createPayer(optionsOf(state, { maxTotal: '2000', clock }))
    await expect(payer.pay(seller.url)).rejects.toMatchObject({ code: 'payment_pending' })
    const burned = payer.pay(`${seller.url}?burned`)
    await expect(burned).rejects.toMatchObject({ code: 'payment_refused' })
    aheadMs = 600_000
    await payer.scheme.guard.reconcile()
    const events = async () => (await auditOf(state)).map(({ event }) => event)
    expect((await events()).filter((event) => event === 'paid')).toHaveLength(1)
    expect(await events()).not.toContain('released')
    // The last test of this file: offers of sellers that read the true time are stale to this chain from here on.
    await net.chain.increaseTime(600)
    await net.chain.mine()
    // A payment that finds no room asks the chain by itself.
    expect((await payer.pay(`${seller.url}?room`)).response.status).toBe(200)
    expect((await events()).filter((event) => event === 'released')).toHaveLength(1)
    expect((await events()).filter((event) => event === 'paid')).toHaveLength(2)
  })
})
