import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { epochOfSecond } from '../../test/challenges.js'
import { addressFileOf, createAddressStore } from './mined-file.js'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-addresses-'))
})
afterAll(() => rm(folder, { recursive: true }))

const address = (byte: string, powNonce: number) =>
  ({ challengeNonce: `0x${byte.repeat(32)}`, powNonce, powBits: 8, payTo: `0x${byte.repeat(20)}` }) as const

const payTo = `0x${'aa'.repeat(20)}`
const rowOf = (...rest: unknown[]) =>
  JSON.stringify({ format: 1, addresses: [[`0x${'aa'.repeat(32)}`, ...rest]] })

describe('the file of addresses', () => {
  test('gives back what was saved last, and nothing when there is no file', async () => {
    const store = createAddressStore(join(folder, 'saved'))
    expect(await store.load()).toEqual([])
    await store.save([address('aa', 1), address('bb', 70_000)])
    await store.save([address('bb', 70_000)])
    expect(await store.load()).toEqual([address('bb', 70_000)])
  })

  test('keeps the epoch of an address that has one', async () => {
    const store = createAddressStore(join(folder, 'epochs'))
    const addresses = [address('aa', 1), { ...address('bb', 2), epoch: epochOfSecond(1_763_251_200) }]
    await store.save(addresses)
    expect(await store.load()).toEqual(addresses)
  })

  test('is for its owner alone and holds nonces only', async () => {
    const path = join(folder, 'private')
    await createAddressStore(path).save([address('aa', 5)])
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({
      format: 1,
      addresses: [[`0x${'aa'.repeat(32)}`, 5, 8, `0x${'aa'.repeat(20)}`]],
    })
  })

  test.each([
    ['no JSON', '{"format":1,'],
    ['another format', '{"format":2,"addresses":[]}'],
    ['a nonce that is none', '{"format":1,"addresses":[["0x12",1]]}'],
    ['a fraction', rowOf(1.5, 8, payTo)],
    ['no bits of proof of work', rowOf(1)],
    ['an address that is none', rowOf(1, 8, '0x12')],
    ['an epoch that is none', rowOf(1, 8, payTo, -1, '11'.repeat(16))],
    ['an epoch of no ledger', rowOf(1, 8, payTo, 60)],
    ['null', 'null'],
  ])('is refused when it has %s, and replaced by the next save', async (_name, content) => {
    const path = join(folder, 'damaged')
    await writeFile(path, content)
    const store = createAddressStore(path)
    await expect(store.load()).rejects.toMatchObject({ code: 'address_file_damaged' })
    await store.save([])
    expect(await store.load()).toEqual([])
  })

  test('stands beside the journal', () => {
    expect(addressFileOf('/var/lib/svc/facilitator.jsonl')).toBe('/var/lib/svc/facilitator.jsonl.addresses')
  })
})

describe('a killed process', () => {
  /** Takes addresses until so many were handed out, then dies. */
  async function takeAndDie(path: string, count: number): Promise<{ nonces: string[]; restored: number }> {
    const runner = new URL('../../test/address-taker.mjs', import.meta.url)
    const child = fork(runner, [path], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })
    const ended = once(child, 'exit')
    const nonces: string[] = []
    let restored = 0
    if (child.stdout === null) throw new Error('no output to read')
    for await (const line of createInterface(child.stdout)) {
      const [nonce = '', fromFile] = line.split(' ')
      nonces.push(nonce)
      restored = Number(fromFile)
      if (nonces.length === count) child.kill('SIGKILL')
    }
    await ended
    return { nonces, restored }
  }

  test('R-012 leaves nothing behind that it has handed out', { timeout: 60_000 }, async () => {
    const path = join(folder, 'killed')
    const handed: string[] = []
    let restored = 0
    for (const count of [40, 3, 17, 1, 29]) {
      const run = await takeAndDie(path, count)
      expect(run.nonces.length).toBeGreaterThanOrEqual(count)
      handed.push(...run.nonces)
      restored += run.restored
    }
    expect(new Set(handed).size).toBe(handed.length)
    expect(restored).toBeGreaterThan(0)
  })
})
