/**
 * The real daemon on a disk that is full. The kernel refuses it any file longer than a limit we move, or, where the next line
 * counts, only its journal has no room.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../../../../test/support/until.js'
import { temporaryFiles } from '../../../test/files.js'
import { startNetwork, type TestNetwork } from '../../../test/network.js'

let net: TestNetwork
let journal: string
const room = join(temporaryFiles().path, 'room')
beforeAll(async () => {
  const hook = new URL('../../../test/full-disk.mjs', import.meta.url)
  const environment = { NODE_OPTIONS: `--import ${hook}`, FULL_DISK_ROOM: room }
  net = await startNetwork({ daemon: true, environment })
  journal = join(net.directory, 'journal.jsonl')
})
afterAll(async () => {
  leaveRoom()
  await net.close()
})

/** Lets the journal grow by so many bytes more; without a number, as far as it likes. */
function leaveRoom(bytes?: number): void {
  if (bytes === undefined) rmSync(room, { force: true })
  else writeFileSync(room, `${statSync(journal).size + bytes}`)
}

/** No file of the daemon may grow beyond this; without a number, as far as it likes. */
function limitFiles(bytes?: number): void {
  execFileSync('prlimit', ['--pid', `${net.pids.facilitator}`, `--fsize=${bytes ?? 'unlimited'}:unlimited`])
}

const records = () =>
  readFileSync(journal, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => ({ ...JSON.parse(line), bytes: line.length + 1 }) as { event: string; bytes: number })
const hasRecord = (event: string, nonce: string) =>
  records().some((record) => record.event === event && JSON.stringify(record).includes(nonce))
/** Bytes of a record of this kind, with a little to spare for longer numbers. */
const sizeOf = (event: string) =>
  Math.max(...records().flatMap((record) => (record.event === event ? [record.bytes] : []))) + 8

const refused = {
  success: false,
  errorReason: 'storage_unavailable',
  transaction: '',
  network: 'eip155:31337',
}

describe('fault 5 a full disk', () => {
  it('refuses challenges and settlements, goes on answering questions, and recovers with the disk', async () => {
    const accepted = await net.permitPayment(await net.account())
    expect((await net.settle(accepted.body)).body.success).toBe(true)
    await until(() => hasRecord('grant_used', accepted.offer.challengeNonce))
    const open = await net.permitPayment(await net.account())

    leaveRoom(0)
    const challenge = await net.post('/challenge', { amount: '1000' })
    expect(challenge).toMatchObject({ status: 503, body: { reason: 'storage_unavailable' } })
    expect(Number(challenge.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await net.settle(open.body)).toMatchObject({ status: 503, body: refused })
    expect(await net.burnsOf(open.offer.challengeNonce)).toHaveLength(0)

    expect((await net.send('/supported')).status).toBe(200)
    expect((await net.verify(open.body)).body).toMatchObject({ isValid: true })
    expect((await net.status(accepted.offer.challengeNonce)).body).toMatchObject({ phase: 'accepted' })
    expect((await net.settle(accepted.body)).body.errorReason).toBe('already_accepted')

    leaveRoom()
    expect((await net.settle(open.body)).body).toMatchObject({ success: true })
    expect((await net.post('/challenge', { amount: '1000' })).status).toBe(200)
  })

  it('full when a burn was claimed and must be recorded before it is sent: nothing is sent', async () => {
    const { offer, body } = await net.permitPayment(await net.account())
    leaveRoom(sizeOf('payment_claimed'))
    expect(await net.settle(body)).toMatchObject({
      status: 503,
      body: { errorReason: 'storage_unavailable' },
    })
    expect(await net.burnsOf(offer.challengeNonce)).toHaveLength(0)
    leaveRoom()
    expect((await net.settle(body)).body).toMatchObject({ success: true })
    expect(await net.burnsOf(offer.challengeNonce)).toHaveLength(1)
  })

  it('full when the burn is mined: not accepted before it is recorded, and accepted once when it is', async () => {
    const { offer, body } = await net.permitPayment(await net.account())
    leaveRoom(sizeOf('payment_claimed') + sizeOf('burn_signed'))
    expect(await net.settle(body)).toMatchObject({
      status: 503,
      body: { errorReason: 'storage_unavailable' },
    })
    expect(await net.burnsOf(offer.challengeNonce)).toHaveLength(1)
    expect((await net.status(offer.challengeNonce)).body).toMatchObject({ phase: 'open' })
    leaveRoom()
    expect((await net.settle(body)).body).toMatchObject({ success: true })
    expect((await net.settle(body)).body.errorReason).toBe('already_accepted')
    expect(await net.burnsOf(offer.challengeNonce)).toHaveLength(1)
  })

  it('full for every file, the database included: refused, and recovers with the disk', async () => {
    const { offer, body } = await net.permitPayment(await net.account())
    limitFiles(statSync(journal).size)
    expect(await net.settle(body)).toMatchObject({
      status: 503,
      body: { errorReason: 'storage_unavailable' },
    })
    expect(await net.burnsOf(offer.challengeNonce)).toHaveLength(0)
    // The journal has room, and what the database refuses is taken back from it.
    limitFiles(statSync(journal).size + 10_000)
    expect((await net.settle(body)).body.success).toBe(false)
    limitFiles()
    expect((await net.settle(body)).body).toMatchObject({ success: true })
    expect(await net.burnsOf(offer.challengeNonce)).toHaveLength(1)
  })

  it('leaves a journal without a gap and with everything that was acknowledged', async () => {
    const seen = records() as unknown as { seq: number }[]
    expect(seen.map(({ seq }) => seq)).toEqual(seen.map((_, i) => i + 1))
  })
})

describe('GET /ready on a full disk', () => {
  it('is never 200 while the disk refuses, however many try it, and 200 again with the disk, without traffic', async () => {
    await until(async () => (await net.send('/ready')).status === 200)
    leaveRoom(0)
    expect((await net.post('/challenge', { amount: '1' })).status).toBe(503)
    let isLoaded = true
    const load = Promise.all(
      Array.from({ length: 4 }, async () => {
        while (isLoaded) await net.post('/challenge', { amount: '1' })
      }),
    )
    const statuses: number[] = []
    for (let sample = 0; sample < 40; sample++) statuses.push((await net.send('/ready')).status)
    isLoaded = false
    await load
    expect(new Set(statuses)).toEqual(new Set([503]))
    leaveRoom()
    await until(async () => (await net.send('/ready')).status === 200)
  })
})
