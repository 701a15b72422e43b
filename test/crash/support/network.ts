/** The real daemon as a process on an embedded chain, to be killed and started again on its journal. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { permitBurnerAbi, tokenAbi, verifierAbi } from '@svc-zerc20/contracts'
import {
  developmentRoles,
  facilitatorCommand,
  type LocalNetworkOptions,
  startLocalNetwork,
} from '@svc-zerc20/devnet'
import { type Address, createPublicClient, createWalletClient, type Hex, http, parseEther } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { hardhat } from 'viem/chains'
import { historyEnvironment } from '../../support/history-environment.js'
import { startNode } from '../../support/node-process.js'
import { until } from '../../support/until.js'
import { createJournalReader } from './journal.js'

export type CrashNetwork = Awaited<ReturnType<typeof startCrashNetwork>>

/** One run of the daemon. */
export type Run = {
  readonly pid: number
  /** Resolves with the daemon's address when it serves. Rejects when it ends before. */
  readonly ready: Promise<string>
  /** Exit code or signal, once it has ended. */
  readonly ended: Promise<string>
  /** The daemon's whole output so far. */
  readonly output: () => string
  signal(signal: NodeJS.Signals): void
}

/** Changes to the previous run's settings. */
export type RunChanges = {
  readonly command?: 'start' | 'check' | 'audit'
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

function runDaemon(configFile: string, { command = 'start', args = [], env = {} }: RunChanges = {}): Run {
  const { treasury, relayer } = developmentRoles
  const daemon = startNode([facilitatorCommand, command, '--config', configFile, ...args], {
    SVC_TREASURY_PK: treasury.privateKey,
    SVC_RELAYER_PK: relayer.privateKey,
    ...env,
  })
  const output = () => daemon.output.stdout + daemon.output.stderr
  const ended = daemon.ended.then(({ how }) => how)
  const ready = new Promise<string>((resolve, reject) => {
    daemon.onOutput(() => {
      const url = /"event":"facilitator\.ready","url":"([^"]+)"/.exec(daemon.output.stdout)?.[1]
      if (url !== undefined) resolve(url)
    })
    void ended.then((how) => reject(new Error(`the daemon ended with ${how}: ${output()}`)))
  })
  ready.catch(() => undefined)
  return { pid: daemon.pid, ready, ended, output, signal: daemon.signal }
}

export async function startCrashNetwork(options: Omit<LocalNetworkOptions, 'inProcess'> = {}) {
  const local = await startLocalNetwork({ powBits: 1, ...options })
  const { chain, configFile, directory, deployment, faucet, rpcUrl } = local
  if (chain === undefined || local.pids.facilitator === undefined) throw new Error('a part did not start')
  const journal = join(directory, 'journal.jsonl')
  const historyFile = join(directory, 'history.jsonl')
  const client = createPublicClient({ transport: http(rpcUrl), cacheTime: 0 })
  // Asked for by itself: viem waits for the next block when it looked a moment too early, and no block may come.
  const receiptOf = (hash: Hex) => until(() => client.getTransactionReceipt({ hash }).catch(() => undefined))
  const firstPid = local.pids.facilitator
  const records = createJournalReader(journal)
  let url = local.facilitatorUrl
  let isClosed = false
  let run: Run = {
    pid: firstPid,
    ready: Promise.resolve(url),
    ended: local.daemonEnded,
    output: () => readFileSync(join(directory, 'facilitator.log'), 'utf8'),
    signal: (signal) => process.kill(firstPid, signal),
  }

  return {
    ...local,
    chain,
    client,
    journal,
    historyFile,
    url: () => url,
    run: () => run,
    /** True when no further run will start, so that waiting callers can stop. */
    isClosed: () => isClosed,

    /**
     * Starts another run on the same journal, without waiting until it serves. Every run but the first has a payment
     * history, which begins with what the first one left in the journal.
     */
    launch(changes?: RunChanges): Run {
      const history = changes?.command === undefined ? historyEnvironment(historyFile) : {}
      const env = { SVC_ADMIN_TOKEN: local.adminToken, ...history, ...changes?.env }
      run = runDaemon(configFile, { ...changes, env })
      run.ready.then(
        (at) => {
          url = at
        },
        () => undefined,
      )
      return run
    },
    async restart(changes?: RunChanges): Promise<void> {
      url = await this.launch(changes).ready
    },
    async kill(): Promise<void> {
      run.signal('SIGKILL')
      await run.ended
    },
    async stop(): Promise<void> {
      run.signal('SIGTERM')
      await run.ended
    },
    /** Starts the daemon once more, and compares its books with the chain. Throws with every difference. */
    async audit(): Promise<void> {
      await this.restart()
      // Otherwise the newest blocks would be left out.
      await chain.request('hardhat_mine', ['0x40'])
      const env = { SVC_ADMIN_TOKEN: local.adminToken }
      const audit = runDaemon(configFile, { command: 'audit', args: ['--url', url], env })
      const how = await audit.ended
      if (how !== '0') throw new Error(`the audit ended with ${how}: ${audit.output()}`)
      await this.stop()
    },

    records,

    async account({ tokens = 1_000_000n, gas = false } = {}) {
      const account = privateKeyToAccount(generatePrivateKey())
      await faucet.mintTokens(account.address, tokens)
      if (gas) await faucet.sendNative(account.address, parseEther('1'))
      return account
    },
    balanceOf: (owner: Address) =>
      client.readContract({
        address: deployment.token,
        abi: tokenAbi,
        functionName: 'balanceOf',
        args: [owner],
      }),
    permitNonce: (owner: Address) =>
      client.readContract({
        address: deployment.token,
        abi: tokenAbi,
        functionName: 'nonces',
        args: [owner],
      }),
    async transfer(
      account: ReturnType<typeof privateKeyToAccount>,
      to: Address,
      amount: bigint,
    ): Promise<Hex> {
      const wallet = createWalletClient({ account, chain: hardhat, transport: http(rpcUrl) })
      const hash = await wallet.writeContract({
        address: deployment.token,
        abi: tokenAbi,
        functionName: 'transfer',
        args: [to, amount],
      })
      await receiptOf(hash)
      return hash
    },
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
      run.signal('SIGKILL')
      await run.ended
      await local.close()
    },
  }
}
