/** A journal under a flood of challenges that nobody pays, in one run of the daemon. */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../support/until.js'
import { ask, prepare, present, requestOffer } from './support/client.js'
import { type CrashNetwork, startCrashNetwork } from './support/network.js'

const flood = 700
const retentionSeconds = 1
const writingSecondsMax = 2

let net: CrashNetwork
beforeAll(async () => {
  net = await startCrashNetwork({
    config: {
      settlement: {
        challenge_ttl_seconds: 10,
        expired_challenge_retention_seconds: retentionSeconds,
        // Small, because recent burns keep their signed bytes, and most burns of this test are recent.
        reorg_watch_blocks: 4,
      },
      daemon: { max_open_challenges: 10_000 },
    },
  })
})
afterAll(() => net.close())

type Compaction = { time: string; bytesBefore: number; recordsBefore: number; recordsAfter: number }

/** The first compaction of the grown file. A small file is compacted only once, after a start. */
function compaction(): Compaction | undefined {
  const lines = net.run().output().split('\n')
  return lines
    .filter((line) => line.includes('"event":"journal.compacted"'))
    .map((line): Compaction => JSON.parse(line))
    .find(({ bytesBefore }) => bytesBefore > 250_000)
}

describe('a daemon that runs on', () => {
  it('drops unpaid challenges from its journal without a restart, and nothing that was acknowledged', async () => {
    const buyer = await net.account()
    const paid: Awaited<ReturnType<typeof prepare>>[] = []
    const unpaid: Awaited<ReturnType<typeof requestOffer>>[] = []
    // Purchases continue meanwhile, so that the compaction happens under traffic.
    await until(async () => {
      const payment = await prepare(net, buyer, 'permit', '1')
      expect(await present(net, payment)).toMatchObject({ success: true })
      paid.push(payment)
      for (let i = 0; i < 20 && unpaid.length < flood; i++) unpaid.push(await requestOffer(net, '1'))
      return compaction() !== undefined
    })
    const compacted = compaction() as Compaction
    const kept = readFileSync(net.journal, 'utf8')
    // Challenges that had passed their retention when the writing began must be gone.
    const beganAt = Date.parse(compacted.time) / 1000 - writingSecondsMax
    const old = unpaid.filter(({ expiresAt }) => Number(expiresAt) + retentionSeconds < beganAt)
    expect(old.length).toBeGreaterThan(0)
    expect(old.filter(({ challengeNonce }) => kept.includes(challengeNonce))).toEqual([])
    expect(compacted.recordsBefore - compacted.recordsAfter).toBeGreaterThanOrEqual(old.length)

    const open = await requestOffer(net, '1000')
    await net.kill()
    const recorded = readFileSync(net.journal, 'utf8')
    await net.restart()
    for (const payment of paid) {
      expect(recorded).toContain(payment.offer.challengeNonce)
      expect(await present(net, payment)).toMatchObject({ errorReason: 'already_accepted' })
    }
    expect(await ask(net, `/payments/${open.challengeNonce}`)).toMatchObject({ status: 200 })
  })
})
