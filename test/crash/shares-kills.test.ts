/**
 * Payments under every kind of fee and both kinds of mint, while facilitator, indexer and their provers are killed at
 * random instants. Each restart of the facilitator changes the kind, so that payments of all kinds are under way at
 * once. In the end everybody has their share, to the unit. `npm run test:crash` does it with 200 payments;
 * `CRASH_SEED` repeats the choices of an earlier run.
 */
import { feeSplitterAbi, verifierAbi } from '@svc-zerc20/contracts'
import { changeConfigFile, developmentRoles, minedReceipt, openFee } from '@svc-zerc20/devnet'
import { type Address, zeroAddress } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, it, onTestFailed } from 'vitest'
import { childrenOf } from '../support/children.js'
import { lightArtifacts } from '../support/light-artifacts.js'
import { drawing, seeded } from '../support/seeded.js'
import { until } from '../support/until.js'
import { ask, type MadePayment, type Mode, prepare, presentUntilAnswered } from './support/client.js'
import { expectHistory } from './support/history.js'
import { createIndexerRuns } from './support/indexer.js'
import { type CrashNetwork, startCrashNetwork } from './support/network.js'

const count = Number(process.env.CRASH_SHARES ?? 10)
const seed = Number(process.env.CRASH_SEED ?? Date.now() % 1_000_000)
const payers = 4
const paymentsPerKill = 2
const pauseMsMax = 3_000
const blockMs = 400
/** A root is proved for the transfers of some seconds at once. */
const gatherMs = 4_000
const secondsPerPayment = 30
/** Extra seconds for the network, its keys and the last proofs, on a busy machine. */
const secondsBesides = 300
const bps = 250n

/** The treasury's account is the provider's, too. */
const { treasury, feeRecipient, deployer } = developmentRoles
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** The fee of a list price, computed here once more: a share of it, rounded up. */
const feeOf = (listPrice: bigint) => (listPrice * bps + 9_999n) / 10_000n

const batches = { mode: 'batch', batch_least: payers, batch_wait_max_ms: 60_000, batch_jitter_ms: 0 }
const mintKinds = [{ mode: 'single' }, batches]

type Bought = MadePayment & { readonly listPrice: bigint }

/** The configurations of all fee modes. Those in split mode name a splitter of their own. */
async function feeKinds({ rpcUrl, deployment }: CrashNetwork) {
  const kinds = []
  for (const chargeTo of ['payer', 'provider'] as const) {
    for (const isSplit of [false, true]) {
      const { tables, splitter } = await openFee(
        { chargeTo, isSplit },
        { rpcUrl, token: deployment.token, say: () => undefined },
      )
      // A custodial fee is swept soon. Each distribution of a splitter is two more transfers to prove.
      const pace = { sweep_interval_secs: isSplit ? 3_600 : 2 }
      const fee = { ...(tables.fee as object), splitter: undefined, ...(splitter && { splitter }), ...pace }
      kinds.push({
        tables: { settlement: { treasury: splitter ?? treasury.address, min_amount: '1' }, fee },
        splitter,
      })
    }
  }
  return kinds
}

type Recorded = {
  readonly phase: string
  readonly amount: string
  readonly fee?: { readonly amount: string; readonly recipient?: string }
}

async function recordOf(net: CrashNetwork, { offer }: MadePayment): Promise<Recorded | undefined> {
  return (await ask(net, `/admin/payments/${offer.challengeNonce}`))?.body.payment as Recorded | undefined
}

function killProvers(parent: number): void {
  for (const pid of childrenOf(parent)) process.kill(pid, 'SIGKILL')
}

/** Anybody may distribute what a splitter has. */
async function distribute(net: CrashNetwork, splitter: Address): Promise<void> {
  if ((await net.balanceOf(splitter)) === 0n) return
  const account = privateKeyToAccount(deployer.privateKey)
  const call = { address: splitter, abi: feeSplitterAbi, functionName: 'distribute' } as const
  const hash = await net.walletOf(account).writeContract(call)
  await minedReceipt(net.client, hash)
}

/** Resolves when a root covers every transfer so far, mints aside. */
async function provedAll({ client, deployment, ...net }: CrashNetwork): Promise<void> {
  const last = (await net.transfers()).findLastIndex(({ args }) => args.from !== zeroAddress)
  const verifier = { address: deployment.verifier, abi: verifierAbi } as const
  await until(
    async () => (await client.readContract({ ...verifier, functionName: 'latestProvedIndex' })) > last,
  )
}

it(
  `${count} payments of every kind of fee and mint reach everybody to the unit through kills (seed ${seed})`,
  async () => {
    onTestFailed(() => {
      process.stderr.write(`to repeat: CRASH_SEED=${seed} CRASH_SHARES=${count} npm run test:crash\n`)
    })
    const net = await startCrashNetwork({
      finalization: true,
      batch: true,
      // Proofs of real circuits, which take seconds and are killed in their middle, are for the long run.
      ...(!process.env.CRASH_SHARES && { artifacts: await lightArtifacts() }),
      gatherMs,
      mining: { mode: 'interval', intervalMs: blockMs },
      // Each kind has another treasury, and so addresses of its own.
      config: { zerc20: { pool_size: 8 } },
    })
    const indexer = createIndexerRuns(net, { gatherMs })
    try {
      const random = seeded(seed)
      const kinds = await feeKinds(net)
      const [nextKind, nextMints] = [drawing(kinds, random), drawing(mintKinds, random)]
      const splitters = kinds.flatMap(({ splitter }) => splitter ?? [])

      async function restartAs(kind: (typeof kinds)[number], finalize: object): Promise<void> {
        await net.kill()
        changeConfigFile(net.configFile, { ...kind.tables, finalize })
        await net.restart()
      }
      const restartAsNext = () => restartAs(nextKind(), nextMints())
      const nextKilling = drawing(
        [
          restartAsNext,
          restartAsNext,
          async () => killProvers(net.run().pid),
          async () => killProvers(indexer.pid()),
          () => indexer.killAndRestart(),
        ],
        random,
      )

      const balances = () =>
        Promise.all([treasury, feeRecipient].map(({ address }) => net.balanceOf(address)))
      await restartAsNext()
      const before = await balances()
      const bought: Bought[] = []
      /** Payments begun so far, and how many may be: some under each kind, and some under way at each kill. */
      const begun = { now: 0, most: paymentsPerKill }

      async function buy(choose: () => number): Promise<void> {
        const account = await net.account({ tokens: 100_000_000n, gas: true })
        while (begun.now < count) {
          if (begun.now >= begun.most) {
            await sleep(20)
            continue
          }
          begun.now += 1
          const mode: Mode = choose() < 0.6 ? 'permit' : 'self-transfer'
          const listPrice = BigInt(2 + Math.floor(choose() * 100_000))
          const payment = { ...(await prepare(net, account, mode, `${listPrice}`)), listPrice }
          bought.push(payment)
          await presentUntilAnswered(net, payment)
        }
      }

      const load = Promise.all(Array.from({ length: payers }, (_, i) => buy(seeded(seed + 1 + i))))
      for (let kills = 0; kills < count / paymentsPerKill; kills++) {
        await sleep(random() * pauseMsMax)
        await nextKilling()()
        begun.most += paymentsPerKill
      }
      await load
      await provedAll(net)
      // Nobody waits for more payments. The last kind sweeps, because the treasury is the key's own account.
      const [custodial] = kinds
      if (custodial) await restartAs(custodial, { ...batches, batch_wait_max_ms: 0 })
      let isLastKillDue = true
      for (const payment of bought) {
        await until(async () => {
          // At its first proof, and no later restart hides a proof that never ends.
          if (isLastKillDue && childrenOf(net.run().pid).length > 0) {
            isLastKillDue = false
            killProvers(net.run().pid)
          }
          return (await recordOf(net, payment))?.phase === 'finalized'
        })
      }

      const due = { swept: 0n, kept: 0n, splitFees: 0n, split: 0n }
      for (const payment of bought) {
        const recorded = await recordOf(net, payment)
        const [fee, amount] = [feeOf(payment.listPrice), BigInt(payment.offer.amount)]
        expect(amount).toBe(payment.offer.fee ? payment.listPrice + fee : payment.listPrice)
        expect(recorded).toMatchObject({ amount: `${amount}`, fee: { amount: `${fee}` } })
        if (recorded?.fee?.recipient === undefined) {
          due.split += amount
          due.splitFees += fee
        } else {
          due.kept += amount - fee
          due.swept += fee
        }
      }
      await until(async () => {
        const fees = (await ask(net, '/admin/status'))?.body.fees as
          | { due: { payments: number }; underWay?: object; swept: { amount: string } }
          | undefined
        return fees?.due.payments === 0 && !fees.underWay && BigInt(fees.swept.amount) === due.swept
      })
      for (const splitter of splitters) await distribute(net, splitter)

      const [earned = 0n, fees = 0n] = (await balances()).map((now, i) => now - (before[i] ?? 0n))
      expect(earned + fees).toBe(due.split + due.kept + due.swept)
      // A splitter rounds down, in favour of the provider: once for every payment and every distribution.
      expect(earned).toBeGreaterThanOrEqual(due.kept + due.split - due.splitFees)
      expect(fees).toBeGreaterThanOrEqual(due.swept + due.splitFees - BigInt(2 * count))
      const minted = (await net.mints()).reduce((sum, { args }) => sum + (args.value ?? 0n), 0n)
      expect(minted).toBe(due.split + due.kept + due.swept)
      for (const splitter of splitters) expect(await net.balanceOf(splitter)).toBe(0n)
      await net.stop()
      await expectHistory(net, bought, { minted: true })
      await net.audit()
    } finally {
      await indexer.close()
      await net.close()
    }
  },
  (secondsBesides + count * secondsPerPayment) * 1000,
)
