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
    [
      'another format',
      (seq: number) => sealed(`{"v":2,"seq":${seq},"event":"grant_used","challengeNonce":"0x00"`),
    ],
    ['another event', (seq: number) => sealed(`{"v":1,"seq":${seq},"at":1,"event":"payment_dreamt"`)],
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
  const words = 'fail SVC_TREASURY_PK: is not the key that the addresses of the ledger derive from'
  const fingerprint = () => Object(net.records().find(({ event }) => event === 'ledger_bound')?.binding).seed

  it('is refused by its fingerprint, which is short and not the key', async () => {
    expect(fingerprint()).toMatch(/^[0-9a-f]{16}$/)
    await refused(words, other)
  })
})
