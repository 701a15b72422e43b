/** A journal under a flood of challenges that nobody pays, in one run of the daemon. */
import { readFileSync, statSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ask, prepare, present, requestOffer } from './support/client.js'
import { type CrashNetwork, startCrashNetwork, until } from './support/network.js'

const flood = 700

let net: CrashNetwork
beforeAll(async () => {
  net = await startCrashNetwork({
    config: {
      settlement: {
        challenge_ttl_seconds: 10,
        expired_challenge_retention_seconds: 1,
        // Burns that are not deep keep their signed bytes, and there would be few others.
        reorg_watch_blocks: 4,
      },
      daemon: { max_open_challenges: 10_000 },
    },
  })
})
afterAll(() => net.close())

/** Of a compaction of the grown file: small ones are made once after a start only. */
function compaction(): { bytesBefore: number; recordsBefore: number; recordsAfter: number } | undefined {
  const lines = net.run().output().split('\n')
  return lines
    .filter((line) => line.includes('"event":"journal.compacted"'))
    .map((line) => JSON.parse(line))
    .find(({ bytesBefore }) => bytesBefore > 250_000)
}

describe('a daemon that runs on', () => {
  it('drops unpaid challenges from its journal without a restart, and nothing that was acknowledged', async () => {
    const buyer = await net.account()
    const paid: Awaited<ReturnType<typeof prepare>>[] = []
    let unpaid = 0
    // Somebody buys all the time, so that it is compacted under traffic.
    await until(async () => {
      const payment = await prepare(net, buyer, 'permit', '1')
      expect(await present(net, payment)).toMatchObject({ success: true })
      paid.push(payment)
      for (let i = 0; i < 20 && unpaid < flood; i++, unpaid++) await requestOffer(net, '1')
      return compaction() !== undefined
    })
    const { bytesBefore = 0, recordsBefore = 0, recordsAfter = 0 } = compaction() ?? {}
    expect(recordsAfter).toBeLessThan(recordsBefore / 2)
    expect(statSync(net.journal).size).toBeLessThan(bytesBefore / 2)

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
