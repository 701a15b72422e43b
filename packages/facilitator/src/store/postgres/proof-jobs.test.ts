/** Daemons of one ledger prove for the one that mints, and any of them may die while it proves. */
import { readFileSync } from 'node:fs'
import { tokenAbi, verifierAbi } from '@svc-zerc20/contracts'
import { developmentRoles } from '@svc-zerc20/devnet'
import { parse, stringify } from 'smol-toml'
import { zeroAddress } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { childrenOf } from '../../../../../test/support/children.js'
import { stoppedClock } from '../../../../../test/support/clocks.js'
import { notRun, type PostgresServer, startPostgres } from '../../../../../test/support/postgres-server.js'
import { until } from '../../../../../test/support/until.js'
import { burnOf, challengeOf } from '../../../test/challenges.js'
import { type Daemon, startDaemon } from '../../../test/daemon.js'
import { temporaryFiles } from '../../../test/files.js'
import { startNetwork, type TestNetwork } from '../../../test/network.js'
import { bodyOf, type ChallengeOffer } from '../../../test/payment.js'
import { stepSettings } from '../../../test/store.js'
import type { ProofJob, ProofJobs } from '../../payment/finalize/proof-jobs.js'
import { createProofJobs } from '../adapters/proof-jobs.js'
import { openPostgres } from './open-postgres.js'

const root = { size: 9n, root: 2n ** 200n, isPaused: false }
const single: ProofJob = { root, payment: { challenge: challengeOf(1), burn: burnOf(1) } }
const { treasury } = challengeOf(2)
const together: ProofJob = {
  root,
  batch: {
    epoch: { ledger: 'ab', start: 3, treasury },
    start: 4n,
    end: 9n,
    leaves: [{ challenge: challengeOf(2), burn: burnOf(2), isCounted: false }],
  },
}

describe.skipIf(notRun() !== '')(`proofs for another daemon${notRun()}`, () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server.close())

  describe('in the store', () => {
    const closings: (() => Promise<void>)[] = []
    afterAll(async () => {
      for (const close of closings) await close()
    })

    /** A daemon is known to live soon after it started. */
    async function open(database: string): Promise<{ readonly jobs: ProofJobs; readonly holder: string }> {
      const store = await openPostgres({
        database: { url: server.url(database) },
        settings: { steps: stepSettings, keepSigned: { blocks: 12 } },
        clock: stoppedClock(),
        onFailure: (error) => {
          throw error
        },
        waitMs: 60_000,
      })
      closings.push(store.close)
      const jobs = createProofJobs(store)
      const { holder } = store.leases
      if (!jobs || holder === undefined) throw new Error('a store that others reach')
      await until(async () => (await server.run('SELECT holder FROM daemon', database)).includes(holder))
      return { jobs, holder }
    }

    it('a job is offered while there is somebody to take it, is held by one, and comes back as it was', async () => {
      await server.run('CREATE DATABASE jobs')
      const first = await open('jobs')
      expect(await first.jobs.offer(single)).toBeUndefined()
      const [second, third] = [await open('jobs'), await open('jobs')]
      for (const job of [single, together]) {
        const offer = await first.jobs.offer(job)
        expect(await offer?.poll()).toBe('free')
        const taken = await second.jobs.take()
        expect(taken?.job).toEqual(job)
        expect(await third.jobs.take()).toBeUndefined()
        expect(await offer?.poll()).toBe('taken')
        await taken?.give([1n, 2n ** 250n])
        expect(await offer?.poll()).toEqual({ words: [1n, 2n ** 250n] })
        await offer?.end()
        expect(await offer?.poll()).toBe('gone')
      }
      const given = await first.jobs.offer(single)
      await (await third.jobs.take())?.giveUp()
      expect(await given?.poll()).toBe('gone')
    })

    it('the job of a daemon that is silent is free, and what that one gives later counts no more', async () => {
      await server.run('CREATE DATABASE silent')
      const [first, second, third] = [await open('silent'), await open('silent'), await open('silent')]
      const offer = await first.jobs.offer(single)
      const slept = await second.jobs.take()
      // As if it had been stopped for as long as a lease: its row is moved, because it goes on renewing it.
      await server.run(`UPDATE proof_job SET holder = 'nobody'`, 'silent')
      expect(await offer?.poll()).toBe('free')
      const taken = await third.jobs.take()
      expect(taken).toBeDefined()
      await slept?.giveUp()
      await slept?.give([1n])
      expect(await offer?.poll()).toBe('taken')
      await taken?.give([2n])
      await slept?.give([1n])
      expect(await offer?.poll()).toEqual({ words: [2n] })
    })

    it('offers that nobody waits for are cleared away with the next that ends', async () => {
      await server.run('CREATE DATABASE cleared')
      const [first, second] = [await open('cleared'), await open('cleared')]
      // Its daemon is gone, and never ended it.
      await second.jobs.offer(single)
      const [one, other] = [await first.jobs.offer(single), await first.jobs.offer(together)]
      await one?.end()
      expect(await server.run('SELECT count(*) FROM proof_job', 'cleared')).toBe('1')
      expect(await other?.poll()).toBe('free')
    })
  })

  describe('by daemons', () => {
    const files = temporaryFiles()
    const daemons: Daemon[] = []
    let net: TestNetwork
    let payer: PrivateKeyAccount
    beforeAll(async () => {
      await server.run('CREATE DATABASE provers')
      net = await startNetwork({ finalization: true })
      payer = await net.account({ gas: true })
    })
    afterAll(async () => {
      for (const { pid, signal, ended } of daemons) {
        for (const child of childrenOf(pid)) process.kill(child, 'SIGKILL')
        signal('SIGKILL')
        await ended
      }
      await net.close()
    })

    async function start(): Promise<Daemon> {
      type Tables = Record<string, Record<string, unknown>>
      const tables = parse(readFileSync(net.configFile, 'utf8')) as unknown as Tables
      const changes: Tables = {
        listen: { port: 0 },
        settlement: { journal: 'none' },
        storage: { url: server.url('provers') },
        // A round is run when the test asks for it.
        daemon: { finalize_interval_ms: 3_600_000, follow_interval_ms: 3_600_000 },
      }
      for (const [name, keys] of Object.entries(changes)) tables[name] = { ...tables[name], ...keys }
      const daemon = await startDaemon(files.write('facilitator.toml', stringify(tables)), {
        SVC_TREASURY_PK: developmentRoles.treasury.privateKey,
        SVC_RELAYER_PK: developmentRoles.relayer.privateKey,
        SVC_ADMIN_TOKEN: net.adminToken,
      })
      daemons.push(daemon)
      return daemon
    }

    async function ask(url: string, body?: unknown): Promise<Record<string, unknown>> {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${net.adminToken}` }
      const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
      return (await (await fetch(url, { headers, ...init })).json()) as Record<string, unknown>
    }

    /** Buys, and waits until a root covers it. */
    async function buy({ url }: Daemon, count: number): Promise<readonly string[]> {
      const nonces: string[] = []
      for (let i = 0; i < count; i++) {
        const offer = await until(async () => {
          const answer = await ask(`${url}/challenge`, { amount: '1000' })
          return answer.reason !== 'address_pool_empty' && (answer as unknown as ChallengeOffer)
        })
        const settled = await ask(`${url}/settle`, bodyOf(offer, await net.permitFor(offer, payer)))
        expect(settled).toMatchObject({ success: true })
        nonces.push(offer.challengeNonce)
      }
      const token = { address: net.deployment.token, abi: tokenAbi } as const
      const verifier = { address: net.deployment.verifier, abi: verifierAbi } as const
      const transfers = await net.client.getContractEvents({
        ...token,
        eventName: 'IndexedTransfer',
        fromBlock: 0n,
      })
      const last = transfers.findLastIndex(({ args }) => args.from !== zeroAddress)
      await until(
        async () =>
          (await net.client.readContract({ ...verifier, functionName: 'latestProvedIndex' })) > last,
      )
      return nonces
    }

    const mint = ({ url }: Daemon, [nonce]: readonly string[]) =>
      ask(`${url}/admin/payments/${nonce}/retry`, {})

    const finalized = ({ url }: Daemon, nonces: readonly string[]) =>
      until(async () => {
        const payments = await Promise.all(nonces.map((nonce) => ask(`${url}/admin/payments/${nonce}`)))
        return payments.every(({ payment }) => Object(payment).phase === 'finalized')
      })

    const told = ({ log }: Daemon, name: string) => log().filter(({ event }) => event === name).length

    /** The process in which a daemon proves, once there is one. */
    const prover = async ({ pid }: Daemon): Promise<number> => {
      await until(() => childrenOf(pid).length === 1)
      return childrenOf(pid)[0] as number
    }

    it('one that sends nothing proves while the other is busy; killed while it proves, the other finishes', async () => {
      const working = await start()
      await until(() => told(working, 'active.taken'))
      const helping = await start()
      // A daemon is known to live soon after it started.
      await until(async () => (await server.run('SELECT count(*) FROM daemon', 'provers')) === '2')

      // Its process exists from the first proof on. Stopped, it is busy with the next one.
      const alone = await buy(working, 1)
      await mint(working, alone)
      await finalized(working, alone)
      process.kill(await prover(working), 'SIGSTOP')

      const shared = await buy(working, 2)
      await mint(working, shared)
      await until(() => told(working, 'proof.borrowed') > 0)
      await until(() => told(helping, 'proof.lent'))
      process.kill(await prover(working), 'SIGCONT')
      await finalized(working, shared)

      process.kill(await prover(working), 'SIGSTOP')
      const dying = await prover(helping)
      process.kill(dying, 'SIGSTOP')
      const left = await buy(working, 3)
      await mint(working, left)
      const rows = 'SELECT count(*), count(holder), count(proof) FROM proof_job'
      await until(async () => (await server.run(rows, 'provers')) === '2|1|0')
      // A row that lies costs a proof that is made here, and nothing else.
      const lie = JSON.stringify(Array.from({ length: 8 }, () => '1'))
      await server.run(`UPDATE proof_job SET proof = '${lie}' WHERE holder IS NULL`, 'provers')
      await until(() => told(working, 'proof.not_borrowed'))
      // The prover first: stopped, it would end by itself as soon as its parent is gone.
      process.kill(dying, 'SIGKILL')
      helping.signal('SIGKILL')
      await helping.ended
      process.kill(await prover(working), 'SIGCONT')
      await finalized(working, left)
      expect([told(helping, 'proof.lent'), told(working, 'mint.failed')]).toEqual([1, 0])
      expect(await server.run('SELECT count(*) FROM proof_job', 'provers')).toBe('0')
    })
  })
})
