/**
 * Transfers that nobody presents: the daemon is killed while it issues addresses, follows transfers and records them.
 * Each transfer must be recorded once, with its value. `CRASH_SEED` repeats the instants of an earlier run.
 */
import { expect, it, onTestFailed } from 'vitest'
import { seeded } from '../support/seeded.js'
import { until } from '../support/until.js'
import { ask, requestOffer } from './support/client.js'
import { startCrashNetwork } from './support/network.js'

const seed = Number(process.env.CRASH_SEED ?? Date.now() % 1_000_000)
const transfers = 4
const pauseMsMax = 800

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

type Late = { late: { challengeNonce: string; late: { value: string } }[] }

it(`fault 27: ${transfers} transfers that nobody presents are found through kills (seed ${seed})`, async () => {
  onTestFailed(() => {
    process.stderr.write(`to repeat: CRASH_SEED=${seed} npm run test:crash\n`)
  })
  const net = await startCrashNetwork({
    config: {
      settlement: { challenge_ttl_seconds: 1, expired_challenge_retention_seconds: 0 },
      daemon: { follow_interval_ms: 1_000 },
    },
  })
  try {
    const random = seeded(seed)
    const payer = await net.account({ tokens: 1_000_000n, gas: true })
    const expected = new Map<string, string>()
    for (let i = 0; i < transfers; i++) {
      const offer = await requestOffer(net, `${100 + i}`)
      // Killed right after the offer, when its address may not be recorded as issued yet.
      if (i % 2 === 0) await killAndRestart()
      await net.transfer(payer, offer.payTo, BigInt(offer.amount))
      expected.set(offer.challengeNonce, offer.amount)
      await sleep(random() * pauseMsMax)
      await killAndRestart()
    }
    async function killAndRestart(): Promise<void> {
      await net.kill()
      await net.restart()
    }
    let found: Late['late'] = []
    await until(async () => {
      const { late = [] } = ((await ask(net, '/admin/late'))?.body ?? {}) as Partial<Late>
      found = late
      return found.length >= transfers
    })
    expect(new Map(found.map(({ challengeNonce, late }) => [challengeNonce, late.value]))).toEqual(expected)
    expect(found).toHaveLength(transfers)
  } finally {
    await net.close()
  }
})
