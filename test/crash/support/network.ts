/** The real daemon as a process on an embedded chain, to be killed and started again on its journal. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { permitBurnerAbi, tokenAbi, verifierAbi } from '@svc-zerc20/contracts'
import { developmentRoles, type LocalNetworkOptions, startLocalNetwork } from '@svc-zerc20/devnet'
import { http } from 'viem'
import { historyEnvironment } from '../../support/history-environment.js'
import { createTokenClient } from '../../support/token-client.js'
import { createJournalReader } from './journal.js'
import { createRuns, type RunChanges, runDaemon } from './runs.js'

export type CrashNetwork = Awaited<ReturnType<typeof startCrashNetwork>>

export async function startCrashNetwork(options: Omit<LocalNetworkOptions, 'inProcess'> = {}) {
  const local = await startLocalNetwork({ powBits: 1, ...options })
  const { chain, configFile, directory, deployment, rpcUrl } = local
  if (chain === undefined || local.pids.facilitator === undefined) throw new Error('a part did not start')
  const journal = join(directory, 'journal.jsonl')
  const historyFile = join(directory, 'history.jsonl')
  const tokenClient = createTokenClient(local, http(rpcUrl))
  const { client } = tokenClient
  const firstPid = local.pids.facilitator
  const records = createJournalReader(journal)
  let isClosed = false
  let isFirstEnded = false
  void local.daemonEnded.then(() => {
    isFirstEnded = true
  })
  // Every run but the first has a payment history, which begins with what the first one left in the journal.
  const settings = ({ command, env, ...changes }: RunChanges = {}) => ({
    ...changes,
    ...(command && { command }),
    env: {
      SVC_ADMIN_TOKEN: local.adminToken,
      ...(command === undefined ? historyEnvironment(historyFile) : {}),
      ...env,
    },
  })
  const runs = createRuns(configFile, settings, {
    url: local.facilitatorUrl,
    run: {
      pid: firstPid,
      ready: Promise.resolve(local.facilitatorUrl),
      ended: local.daemonEnded,
      output: () => readFileSync(join(directory, 'facilitator.log'), 'utf8'),
      // The number of a process that has ended may be another one's by now.
      signal: (signal) => void (isFirstEnded || process.kill(firstPid, signal)),
    },
  })

  return {
    ...local,
    ...tokenClient,
    chain,
    journal,
    historyFile,
    ...runs,
    /** How long a client waits for an answer, and until it asks again. */
    patience: { answerMs: 600_000, pauseMs: 15 },
    /** True when no further run will start, so that waiting callers can stop. */
    isClosed: () => isClosed,

    /** Starts the daemon once more, and compares its books with the chain. Throws with every difference. */
    async audit(): Promise<void> {
      await runs.restart()
      await this.auditAt(runs.url())
      await runs.stop()
    },
    /** Compares the books of a daemon that runs with the chain. */
    async auditAt(url: string): Promise<void> {
      // Otherwise the newest blocks would be left out.
      await chain.request('hardhat_mine', ['0x40'])
      const env = { SVC_ADMIN_TOKEN: local.adminToken }
      const audit = runDaemon(configFile, { command: 'audit', args: ['--url', url], env })
      const how = await audit.ended
      if (how !== '0') throw new Error(`the audit ended with ${how}: ${audit.output()}`)
    },

    records,

    /** Every transfer of the token, oldest first. */
    transfers: () =>
      client.getContractEvents({
        address: deployment.token,
        abi: tokenAbi,
        eventName: 'IndexedTransfer',
        fromBlock: 0n,
      }),
    /** Burns that the permit burner executed. */
    relayedBurns: () =>
      client.getContractEvents({
        address: deployment.permitBurner,
        abi: permitBurnerAbi,
        eventName: 'BurnExecuted',
        fromBlock: 0n,
      }),
    /** Mints by proof. */
    mints: () =>
      client.getContractEvents({
        address: deployment.verifier,
        abi: verifierAbi,
        eventName: 'Teleport',
        fromBlock: 0n,
      }),
    async relayerCount(tag: 'latest' | 'pending'): Promise<number> {
      const { address } = developmentRoles.relayer
      return Number(await chain.request('eth_getTransactionCount', [address, tag]))
    },

    async close(): Promise<void> {
      isClosed = true
      await runs.kill()
      await local.close()
    },
  }
}
