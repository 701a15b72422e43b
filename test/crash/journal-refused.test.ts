/** Journals that a start must refuse, and its messages. */
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { generatePrivateKey } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../support/until.js'
import { prepare, present } from './support/client.js'
import { type CrashNetwork, startCrashNetwork } from './support/network.js'

let net: CrashNetwork
beforeAll(async () => {
  net = await startCrashNetwork()
  const payment = await prepare(net, await net.account())
  expect(await present(net, payment)).toMatchObject({ success: true })
  await until(() => net.records().some(({ event }) => event === 'grant_used'))
  await net.stop()
})
afterAll(() => net.close())

/** Runs start and check. Both must refuse with these words, exit with 1 and leave the journal unchanged. */
async function refused(words: string, env: Record<string, string> = {}): Promise<void> {
  const before = readFileSync(net.journal)
  for (const command of ['start', 'check'] as const) {
    const run = net.launch({ command, env })
    expect(await run.ended, run.output()).toBe('1')
    expect(run.output()).toContain(words)
  }
  expect(readFileSync(net.journal).equals(before)).toBe(true)
}

const sealed = (covered: string) => `${covered},"crc":"${crc32(covered).toString(16).padStart(8, '0')}"}\n`

describe('a last line that a newer version wrote', () => {
  it.each([
    ['another format', (seq: number) => sealed(`{"v":2,"seq":${seq},"event":"grant_used","nonce":"0x00"`)],
    ['another event', (seq: number) => sealed(`{"v":1,"seq":${seq},"event":"payment_dreamt"`)],
  ])('is refused and kept: %s', async (_, line) => {
    const before = readFileSync(net.journal)
    const number = net.records().length + 1
    appendFileSync(net.journal, line(number))
    await refused(`line ${number} was written by a newer version of this program`)
    writeFileSync(net.journal, before)
  })
})

describe('a journal of another SVC_TREASURY_PK', () => {
  const other = { SVC_TREASURY_PK: generatePrivateKey() }
  const words = 'fail SVC_TREASURY_PK: is not the key that the journal was written with'
  const fingerprint = () => Object(net.records()[0]?.binding).seed

  it('is refused by its fingerprint, which is short and not the key', async () => {
    expect(fingerprint()).toMatch(/^[0-9a-f]{16}$/)
    await refused(words, other)
  })

  it('of an older version, without a fingerprint, is refused by its addresses, and bound by the right key', async () => {
    const [first = '', ...rest] = readFileSync(net.journal, 'utf8').split('\n')
    const covered = first.replace(/,"seed":"[0-9a-f]{16}"/, '').replace(/,"crc":.*$/, '')
    writeFileSync(net.journal, [sealed(covered).trimEnd(), ...rest].join('\n'))
    expect(fingerprint()).toBeUndefined()
    await refused(words, other)
    await net.restart()
    const bound = net.records().filter(({ event }) => event === 'ledger_bound')
    expect(bound.at(-1)).toMatchObject({ binding: { seed: expect.stringMatching(/^[0-9a-f]{16}$/) } })
    await net.stop()
    await refused(words, other)
  })

  it('and mined addresses of another key are refused, too', async () => {
    const path = `${net.journal}.addresses`
    const before = readFileSync(path, 'utf8')
    expect(JSON.parse(before)).toMatchObject({ seed: expect.stringMatching(/^[0-9a-f]{16}$/) })
    writeFileSync(path, before.replace(/"seed":"[0-9a-f]{16}"/, '"seed":"0123456789abcdef"'))
    await refused(`fail SVC_TREASURY_PK: is not the key that the addresses in ${path} were mined with`)
    writeFileSync(path, before)
  })
})
