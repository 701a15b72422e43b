import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ChallengeNonce, Hex, Offer, TxHash } from '@svc-zerc20/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { jumpingClock } from '../../../../test/support/clocks.js'
import { bytes32, offerAt } from '../../test/offers.js'
import { createDurablePayments } from './durable-payments.js'
import { createPaymentMemory, type PaymentMemory, type PaymentRecord, wholeMax } from './payments.js'

type Parts = Parameters<typeof createPaymentMemory>[0]
let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-pay-payments-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const ofProcess = (parts: Parts) => createPaymentMemory(parts)
const ofFolder = (parts: Parts) => createDurablePayments({ folder, ...parts })

const setUp = (paymentsPerHostMax = 100, create: (parts: Parts) => PaymentMemory = ofProcess) => {
  const clock = jumpingClock()
  const memory = create({ clock, limits: { paymentsPerHostMax, retentionSeconds: 3_600 } })
  const record = (n: number, changes: Partial<PaymentRecord> = {}): PaymentRecord => ({
    challengeNonce: bytes32(n) as ChallengeNonce,
    accepted: offerAt(Math.floor(clock.now() / 1_000)) as Offer.PaymentRequirements,
    delivery: 'open',
    resends: 0,
    ...changes,
  })
  const put = (one: PaymentRecord) => memory.update(one.challengeNonce, () => one)
  return { clock, memory, record, put }
}

describe('the memory of payments', () => {
  it('gives back what was put and forgets what is dropped', async () => {
    const { memory, record, put } = setUp()
    await put(record(1))
    expect(await memory.get(record(1).challengeNonce)).toEqual(record(1))
    await memory.update(record(1).challengeNonce, () => undefined)
    expect(await memory.get(record(1).challengeNonce)).toBeUndefined()
  })

  it('refuses a payment when full rather than forget an unexpired one', async () => {
    const { memory, record, put } = setUp(2)
    await put(record(1))
    await put(record(2))
    await expect(put(record(3))).rejects.toMatchObject({ code: 'memory_full' })
    await put(record(2, { delivery: 'delivered' }))
    expect(await memory.get(record(1).challengeNonce)).toBeDefined()
  })

  it('makes room from offers that expired longer ago than the retention', async () => {
    const { clock, memory, record, put } = setUp(2)
    const old = record(1)
    await put(old)
    clock.advance((300 + 3_599) * 1_000)
    await put(record(2))
    await expect(put(record(3))).rejects.toMatchObject({ code: 'memory_full' })
    clock.advance(1_000)
    await put(record(3))
    expect(await memory.get(old.challengeNonce)).toMatchObject({ delivery: 'refused' })
  })

  it('gives an undelivered payment of a request to exactly one of many callers', async () => {
    const { memory, record, put } = setUp()
    await put(record(1, { delivery: 'undelivered', request: 'GET http://shop/a' }))
    await put(record(2, { delivery: 'delivered', request: 'GET http://shop/a' }))
    const claims = await Promise.all(
      Array.from({ length: 5 }, () => memory.claimUndelivered('GET http://shop/a')),
    )
    expect(claims.filter((claim) => claim !== undefined)).toEqual([
      record(1, { delivery: 'open', request: 'GET http://shop/a' }),
    ])
  })

  it('never gives a payment to another request', async () => {
    const { memory, record, put } = setUp()
    await put(record(1, { delivery: 'undelivered', request: 'GET http://shop/a' }))
    expect(await memory.claimUndelivered('POST http://shop/a')).toBeUndefined()
    expect(await memory.claimUndelivered('GET http://thief/a')).toBeUndefined()
  })
})

describe.each([
  ['of a process', ofProcess],
  ['in a folder', ofFolder],
])('the memory %s, where there are many payments', (_, create) => {
  const at = (host: string, delivery: PaymentRecord['delivery'] = 'undelivered') => ({
    delivery,
    request: `GET https://${host}/thing`,
  })

  it('is full for one host, and not for another', async () => {
    const { memory, record, put } = setUp(2, create)
    await put(record(1, at('greedy.example')))
    await put(record(2, at('greedy.example')))
    await expect(put(record(3, at('greedy.example')))).rejects.toMatchObject({
      code: 'memory_full',
      detail: '2 payments wait at greedy.example',
    })
    await put(record(4, at('honest.example')))
    await put(record(1, at('greedy.example', 'delivered')))
    await put(record(3, at('greedy.example')))
    expect(await memory.list()).toHaveLength(4)
  })

  it('has room at a host again once what waits there is surely over', async () => {
    const { clock, record, put } = setUp(1, create)
    await put(record(1, at('shop.example')))
    clock.advance((300 + 3_600) * 1_000)
    await put(record(2, at('shop.example')))
  })

  it('still knows a transfer that made room: the chain is asked what became of it', async () => {
    const { clock, memory, record, put } = setUp(1, create)
    const burn = { hash: bytes32(7) as TxHash, raw: bytes32(8) as Hex }
    await put(record(1, { ...at('shop.example'), burn }))
    clock.advance((300 + 3_600) * 1_000)
    await put(record(2, at('shop.example')))
    expect(await memory.get(record(1).challengeNonce)).toMatchObject({ burn, delivery: 'refused' })
  })

  it('goes on with a signed payment first: an unsigned one for the same request would be a second', async () => {
    const { memory, record, put } = setUp(100, create)
    for (let n = 1; n <= 9; n += 1) {
      await put(record(n, { ...at('shop.example'), ...(n === 5 && { payload: { of: n } }) }))
    }
    const { request } = at('shop.example')
    expect(await memory.claimUndelivered(request)).toMatchObject({ payload: { of: 5 } })
  })

  it('keeps the names of those that are over, pays none of them again, and forgets them in the end', async () => {
    const { clock, memory, record, put } = setUp(100, create)
    const { accepted } = record(1)
    const longer = { ...accepted, extra: { ...accepted.extra, expiresAt: accepted.extra.expiresAt + 80_000 } }
    for (let n = 1; n <= wholeMax; n += 1) {
      await put(record(n, { ...at('shop.example'), accepted: longer as typeof accepted }))
      await put(record(n, { ...at('shop.example', 'delivered'), accepted: longer as typeof accepted }))
    }
    await put(record(99, at('shop.example')))
    await put(record(99, at('shop.example', 'refused')))
    await put(record(98, at('shop.example')))
    const [first] = [record(1)]
    expect(await memory.get(first.challengeNonce)).toBeUndefined()
    expect(await memory.isOver(first.challengeNonce)).toBe(true)
    await expect(memory.hold(first.challengeNonce, (before) => before ?? first)).rejects.toMatchObject({
      code: 'payment_used',
    })
    // The deadline is nearer than the expiry.
    clock.advance((300 + 3_600) * 1_000)
    for (let n = 200; n <= 201 + wholeMax; n += 1) await put(record(n, at('shop.example', 'delivered')))
    expect((await memory.hold(first.challengeNonce, (before) => before ?? first)).record).toEqual(first)
  })
})

describe('the memory in a folder', () => {
  it('finds the payment of a request by its name, and reads no payment of others', async () => {
    const { memory, record, put } = setUp(100, ofFolder)
    await put(record(1, { delivery: 'undelivered', request: 'GET http://shop/a' }))
    for (let n = 2; n <= 100; n += 1) {
      const other = join(folder, bytes32(n))
      await mkdir(other)
      await writeFile(join(other, '1.json'), 'not to be read')
    }
    expect(await memory.claimUndelivered('GET http://shop/b')).toBeUndefined()
    expect(await memory.claimUndelivered('GET http://shop/a')).toMatchObject({ delivery: 'open' })
    await put(record(101, { request: 'GET http://shop/a' }))
  })

  it('has few folders, however many payments there were', async () => {
    const { record, put } = setUp(100, ofFolder)
    for (let n = 1; n <= wholeMax + 2; n += 1) {
      await put(record(n, { request: `GET http://shop/${n}` }))
      await put(record(n, { request: `GET http://shop/${n}`, delivery: 'delivered' }))
    }
    expect((await readdir(folder)).filter((name) => name.startsWith('0x')).length).toBeLessThanOrEqual(
      wholeMax,
    )
    const [host = ''] = await readdir(join(folder, 'waiting'))
    expect(await readdir(join(folder, 'waiting', host))).toEqual([])
  })

  it('writes the name of a payment that waits again before its record, so that no kill comes between', async () => {
    const { memory, record, put } = setUp(100, ofFolder)
    const served = record(1, { request: 'GET http://shop/a', delivery: 'delivered' })
    await put(served)
    await rm(join(folder, 'waiting'), { recursive: true, force: true })
    await writeFile(join(folder, 'waiting'), 'no folder')
    await expect(put({ ...served, delivery: 'undelivered' })).rejects.toMatchObject({
      code: 'state_unusable',
    })
    expect((await memory.get(served.challengeNonce))?.delivery).toBe('delivered')
  })

  it('gives nothing for a request at which another process is at work', async () => {
    const { clock, memory, record, put } = setUp(100, ofFolder)
    const limits = { paymentsPerHostMax: 100, retentionSeconds: 3_600 }
    const another = createDurablePayments({ folder, clock, limits })
    await put(record(1, { request: 'GET http://shop/a' }))
    await put(record(2, { request: 'GET http://shop/a', delivery: 'undelivered' }))
    await expect(another.claimUndelivered('GET http://shop/a')).rejects.toMatchObject({
      code: 'payment_pending',
    })
    expect(await another.claimUndelivered('GET http://shop/b')).toBeUndefined()
    expect(await memory.claimUndelivered('GET http://shop/a')).toMatchObject({ delivery: 'open' })
  })

  it('finds a payment whose process was killed before its name was removed, or its record written', async () => {
    const { memory, record, put } = setUp(1, ofFolder)
    await put(record(1, { request: 'GET http://shop/a' }))
    const [host = ''] = await readdir(join(folder, 'waiting'))
    const [name = ''] = await readdir(join(folder, 'waiting', host))
    await put(record(1, { request: 'GET http://shop/a', delivery: 'delivered' }))
    await writeFile(join(folder, 'waiting', host, name), '')
    expect(await memory.claimUndelivered('GET http://shop/a')).toBeUndefined()
    await put(record(2, { request: 'GET http://shop/a' }))
  })
})
