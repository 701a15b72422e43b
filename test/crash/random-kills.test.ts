/**
 * The daemon is killed at random instants while several payers buy, and started again on its journal each time.
 * `npm run test:crash` does it 500 times; `CRASH_SEED` repeats the choices of an earlier run.
 */
import { expect, it, onTestFailed } from 'vitest'
import { seeded } from '../support/seeded.js'
import { type MadePayment, type Mode, prepare, presentUntilAnswered } from './support/client.js'
import { expectHistory } from './support/history.js'
import { type CrashNetwork, startCrashNetwork } from './support/network.js'
import { expectAgreement, expectGrantsAreRemembered } from './support/reckoning.js'

const kills = Number(process.env.CRASH_KILLS ?? 6)
const seed = Number(process.env.CRASH_SEED ?? Date.now() % 1_000_000)
const payers = 6
/** Longest time from ready to kill, and share of the runs that are killed before they are ready. */
const lifeMsMax = 700
const stillbornShare = 0.2
const blockMs = 150
const secondsPerKill = 20
/** Extra seconds for the network and the final comparison, on a busy machine. */
const secondsBesides = 300

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Kills one run after the other, under load. */
async function killRepeatedly(net: CrashNetwork, random: () => number): Promise<void> {
  for (let kill = 1; kill <= kills; kill++) {
    const isStillborn = kill > 1 && random() < stillbornShare
    if (!isStillborn) await net.run().ready
    await sleep(random() * lifeMsMax)
    await net.kill()
    net.launch()
  }
  await net.run().ready
}

it(
  `${kills} random kills under load lose nothing and do nothing twice (seed ${seed})`,
  async () => {
    const replay = `CRASH_SEED=${seed} CRASH_KILLS=${kills} npm run test:crash`
    onTestFailed(() => {
      process.stderr.write(`to repeat: ${replay}\n`)
    })
    const net = await startCrashNetwork({
      mining: { mode: 'interval', intervalMs: blockMs },
      // Nothing expires, however slow the machine is: every payment must end in its burn.
      config: { settlement: { challenge_ttl_seconds: 86_400 } },
    })
    try {
      const random = seeded(seed)
      const payments: MadePayment[] = []
      const balances = new Map<string, bigint>()
      let isOver = false

      /** Pays one after the other, because permit nonces are sequential. Presents each payment until it is answered. */
      async function buy(choose: () => number): Promise<void> {
        const account = await net.account({ tokens: 10_000_000n, gas: true })
        balances.set(account.address, 10_000_000n)
        while (!isOver) {
          const mode: Mode = choose() < 0.6 ? 'permit' : 'self-transfer'
          const payment = await prepare(net, account, mode, `${1 + Math.floor(choose() * 1000)}`)
          payments.push(payment)
          await presentUntilAnswered(net, payment)
        }
      }

      const load = Promise.all(Array.from({ length: payers }, (_, i) => buy(seeded(seed + 1 + i))))
      // The load ends by itself only when it fails.
      await Promise.race([killRepeatedly(net, random), load])
      isOver = true
      await load
      await net.stop()
      await expectAgreement(net, payments, balances)
      await expectHistory(net, payments)
      expect(payments.length).toBeGreaterThan(kills / 5)

      await net.restart()
      const openGrants = await expectGrantsAreRemembered(net, payments)
      await net.stop()
      await expectAgreement(net, payments, balances)
      await expectHistory(net, payments)
      await net.audit()
      const both = payments.filter(({ mode }) => mode === 'permit').length
      process.stdout.write(
        `${kills} kills, ${payments.length} payments (${both} relayed), ${openGrants} answers written at the instant of a kill\n`,
      )
    } finally {
      await net.close()
    }
  },
  (secondsBesides + kills * secondsPerKill) * 1000,
)
