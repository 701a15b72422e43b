/**
 * Payments go from accepted to finalized while facilitator, indexer and their provers are killed at random instants.
 * The provider and the fee recipient must end up with the sum, to the unit. The seed chooses whether there is a fee, and
 * in which mode. `npm run test:crash` does it with 100 payments; `CRASH_SEED` repeats the choices of an earlier run.
 */
import { developmentRoles } from '@svc-zerc20/devnet'
import { expect, it, onTestFailed } from 'vitest'
import { until } from '../support/until.js'
import { ask, type MadePayment, type Mode, prepare, presentUntilAnswered } from './support/client.js'
import { childrenOf, createIndexerRuns, type IndexerRuns } from './support/indexer.js'
import { type CrashNetwork, startCrashNetwork } from './support/network.js'
import { seeded } from './support/seeded.js'

const count = Number(process.env.CRASH_PAYMENTS ?? 2)
const seed = Number(process.env.CRASH_SEED ?? Date.now() % 1_000_000)
const payers = 3
/** Longest pause between two kills. One kill for each payment, so that some proofs can finish. */
const pauseMsMax = 4_000
const blockMs = 200
const secondsPerPayment = 60
/** Extra seconds for the network and the last proofs, on a busy machine. */
const secondsBesides = 120

const feeModes = [
  undefined,
  { chargeTo: 'payer', isSplit: false },
  { chargeTo: 'payer', isSplit: true },
  { chargeTo: 'provider', isSplit: false },
  { chargeTo: 'provider', isSplit: true },
] as const
const fee = feeModes[seed % feeModes.length]
const feeName = fee ? `${fee.isSplit ? 'split' : 'custodial'} fee, borne by the ${fee.chargeTo}` : 'no fee'

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

const victims = ['facilitator', 'prover', 'indexer', 'root prover'] as const

async function kill(
  net: CrashNetwork,
  indexer: IndexerRuns,
  victim: (typeof victims)[number],
): Promise<void> {
  if (victim === 'facilitator') {
    await net.kill()
    await net.restart()
  } else if (victim === 'indexer') {
    await indexer.killAndRestart()
  } else {
    const parent = victim === 'prover' ? net.run().pid : indexer.pid()
    for (const pid of childrenOf(parent)) process.kill(pid, 'SIGKILL')
  }
}

async function isFinalized(net: CrashNetwork, { offer }: MadePayment): Promise<boolean> {
  const { payment } = (await ask(net, `/admin/payments/${offer.challengeNonce}`))?.body ?? {}
  return (payment as { phase?: string } | undefined)?.phase === 'finalized'
}

/** Tokens of everybody who can have a part of a payment. */
async function holdings(net: CrashNetwork): Promise<{ provider: bigint; others: bigint }> {
  const { provider, feeRecipient } = developmentRoles
  const held = net.splitter === undefined ? 0n : await net.balanceOf(net.splitter)
  return {
    provider: await net.balanceOf(provider.address),
    others: held + (await net.balanceOf(feeRecipient.address)),
  }
}

/** The fee of a payment as the facilitator recorded it. */
async function feeOf(net: CrashNetwork, { offer }: MadePayment): Promise<bigint> {
  const { payment } = (await ask(net, `/admin/payments/${offer.challengeNonce}`))?.body ?? {}
  return BigInt((payment as { fee?: { amount: string } } | undefined)?.fee?.amount ?? 0)
}

const sumOf = (values: readonly bigint[]) => values.reduce((sum, value) => sum + value, 0n)

it(
  `${count} payments are minted to the unit through kills of facilitator, indexer and provers (seed ${seed}, ${feeName})`,
  async () => {
    onTestFailed(() => {
      process.stderr.write(`to repeat: CRASH_SEED=${seed} CRASH_PAYMENTS=${count} npm run test:crash\n`)
    })
    const net = await startCrashNetwork({
      finalization: true,
      ...(fee && { fee }),
      mining: { mode: 'interval', intervalMs: blockMs },
    })
    const indexer = createIndexerRuns(net)
    try {
      const random = seeded(seed)
      const before = await holdings(net)
      const payments: MadePayment[] = []

      async function buy(choose: () => number): Promise<void> {
        const account = await net.account({ tokens: 10_000_000n, gas: true })
        while (payments.length < count) {
          const mode: Mode = choose() < 0.6 ? 'permit' : 'self-transfer'
          // At least 2: of a price of 1, a fee that the provider bears leaves nothing.
          const payment = await prepare(net, account, mode, `${2 + Math.floor(choose() * 1000)}`)
          payments.push(payment)
          await presentUntilAnswered(net, payment)
        }
      }

      const load = Promise.all(Array.from({ length: payers }, (_, i) => buy(seeded(seed + 1 + i))))
      for (let kills = 0; kills < count; kills++) {
        await sleep(random() * pauseMsMax)
        const victim = victims[Math.floor(random() * victims.length)] ?? 'facilitator'
        await kill(net, indexer, victim)
      }
      await load
      for (const payment of payments) await until(() => isFinalized(net, payment))

      await net.distribute(await net.account({ gas: true }))
      const after = await holdings(net)
      const gained = after.provider - before.provider
      const sum = sumOf(payments.map(({ offer }) => BigInt(offer.amount)))
      expect(gained + after.others - before.others).toBe(sum)
      const fees = sumOf(await Promise.all(payments.map((payment) => feeOf(net, payment))))
      expect(fees > 0n).toBe(fee !== undefined)
      expect(gained).toBeGreaterThanOrEqual(sum - fees)
      const mints = await net.mints()
      expect(mints.map(({ args }) => args.value).sort()).toEqual(
        payments.map(({ offer }) => BigInt(offer.amount)).sort(),
      )
    } finally {
      await indexer.close()
      await net.close()
    }
  },
  (secondsBesides + count * secondsPerPayment) * 1000,
)
