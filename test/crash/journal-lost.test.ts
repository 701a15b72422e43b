/** A journal that is removed, emptied or replaced by an old copy. */
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  truncateSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../support/until.js'
import { ask, type MadePayment, prepare, present } from './support/client.js'
import { type CrashNetwork, startCrashNetwork } from './support/network.js'

let net: CrashNetwork
/** Copies of the journal and of everything beside it: after one payment, and after two. */
let older: string
let newest: string
let payments: MadePayment[]

const folder = () => dirname(net.journal)
const files = (from: string) => readdirSync(from).filter((name) => name.startsWith(basename(net.journal)))
function copyAll(from: string, to: string): void {
  for (const name of files(to)) rmSync(join(to, name), { recursive: true })
  for (const name of files(from)) cpSync(join(from, name), join(to, name), { recursive: true })
}
function backUp(): string {
  const copy = mkdtempSync(join(folder(), 'copy-'))
  copyAll(folder(), copy)
  return copy
}

async function buy(): Promise<MadePayment> {
  const payment = await prepare(net, await net.account())
  expect(await present(net, payment)).toMatchObject({ success: true })
  const { challengeNonce } = payment.offer
  const isGranted = (record: object) => JSON.stringify(record).includes(challengeNonce)
  await until(() => net.records().some((record) => record.event === 'grant_used' && isGranted(record)))
  return payment
}

beforeAll(async () => {
  // More ready addresses than are tried for one caller.
  const zerc20 = { pool_size: 128 }
  net = await startCrashNetwork({ config: { settlement: { challenge_ttl_seconds: 3600 }, zerc20 } })
  const first = await buy()
  await net.stop()
  older = backUp()
  await net.restart()
  payments = [first, await buy()]
  await net.stop()
  newest = backUp()
})
afterAll(() => net.close())

async function refused(words: string, command: 'start' | 'check' = 'start'): Promise<void> {
  const run = net.launch({ command })
  expect(await run.ended, run.output()).toBe('1')
  expect(run.output()).toContain(words)
}

describe('a start', () => {
  it('on an old copy of the journal is refused, and so is a check', async () => {
    copyFileSync(join(older, basename(net.journal)), net.journal)
    await refused(`${net.journal} is an old copy`)
    await refused(`${net.journal} is an old copy`, 'check')
    copyAll(newest, folder())
  })

  it('on an emptied or missing journal is refused, and makes none', async () => {
    truncateSync(net.journal)
    await refused(`${net.journal} is empty or missing`)
    rmSync(net.journal)
    await refused(`${net.journal} is empty or missing`)
    expect(existsSync(net.journal)).toBe(false)
    copyAll(newest, folder())
  })

  it('on an old copy of the whole folder is refused by the transactions of the relayer, unless it is meant', async () => {
    copyAll(older, folder())
    await refused('transactions that the ledger does not know')
    await net.restart({ args: ['--accept-copy'] })
    // The second payment's address is ready in the copy, and it was handed out behind it.
    const { offer } = await prepare(net, await net.account())
    expect(payments.map((payment) => payment.offer.payTo)).not.toContain(offer.payTo)
    await net.stop()
    // After that the copy is the accepted journal.
    await net.restart()
    await net.stop()
    copyAll(newest, folder())
  })
})

/** One daemon after the other, on the newest journal. */
describe('a daemon whose journal is taken away', () => {
  beforeAll(() => net.restart())

  async function acceptsNothing(open: MadePayment): Promise<void> {
    const refusal = { status: 503, body: { reason: 'storage_unavailable' } }
    expect(await ask(net, '/challenge', { amount: '1000' })).toMatchObject(refusal)
    expect(await present(net, open)).toMatchObject({ errorReason: 'storage_unavailable' })
    expect(await ask(net, '/ready')).toMatchObject({ status: 503 })
    expect(JSON.stringify((await ask(net, '/ready'))?.body)).toContain('the journal is gone from its place')
    net.run().signal('SIGTERM')
    expect(await net.run().ended).toBe('1')
  }

  it.each([
    ['removed', () => rmSync(net.journal)],
    [
      'replaced by a copy of itself',
      () => {
        copyFileSync(net.journal, `${net.journal}.copy`)
        renameSync(`${net.journal}.copy`, net.journal)
      },
    ],
    ['emptied', () => truncateSync(net.journal)],
  ])('%s accepts nothing more, ends with 1, and leaves all it knew', async (_, take) => {
    const paid = await buy()
    const open = await prepare(net, await net.account())
    take()
    await acceptsNothing(open)

    await net.restart({ args: ['--accept-copy'] })
    for (const payment of [...payments, paid]) {
      expect(await present(net, payment)).toMatchObject({ errorReason: 'already_accepted' })
    }
    expect(await present(net, open)).toMatchObject({ success: true })
    payments.push(paid, open)
  })

  it('and does nothing notices it all the same', async () => {
    rmSync(net.journal)
    await until(async () => (await ask(net, '/ready'))?.status === 503)
    net.run().signal('SIGTERM')
    expect(await net.run().ended).toBe('1')
    await refused(`${net.journal} is empty or missing`)
  })
})
