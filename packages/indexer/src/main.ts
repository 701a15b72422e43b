#!/usr/bin/env node
/** `svc-indexer`: one token's indexer as its own process. */
import { createRequire } from 'node:module'
import { availableParallelism } from 'node:os'
import { closeAll, createProcessLog, exitCodeFor, exitCodes, onStopSignal } from '@svc-zerc20/daemon'
import { Network, SvcError } from '@svc-zerc20/protocol'
import { createProver } from '@svc-zerc20/prover'
import { keysRefused, readArtifacts } from '@svc-zerc20/zk'
import { type Arguments, createProgram } from './command-line.js'
import { proverKeyName, takeProverKey } from './env.js'
import { levelOf } from './events.js'
import { createIndexer } from './indexer.js'
import { limits } from './limits.js'
import { gasPriceCeiling } from './root/gas-price-ceiling.js'

const { version } = createRequire(import.meta.url)('../package.json') as { version: string }

const { log, exit } = createProcessLog(levelOf)

await createProgram(version, run).parseAsync()

async function run(args: Arguments): Promise<void> {
  try {
    const close = await start(args)
    onStopSignal(
      (signal) => void stop(close, signal),
      // A second signal ends the process at once.
      () => void exit(exitCodes.ok),
    )
  } catch (error) {
    await failWith(error)
  }
}

type Close = () => Promise<void>

/** Starts the indexer, and the prover when there is a key to pay for roots. */
async function start(args: Arguments): Promise<Close> {
  const { artifacts, gatherMs, mintGatherMs, maxFeeGwei, maxTipGwei, ...rest } = args
  const ceiling = gasPriceCeiling({ maxFeeGwei, maxTipGwei })
  const privateKey = takeProverKey()
  if (artifacts === undefined && privateKey === undefined) {
    const { close } = await createIndexer({ ...rest, log })
    return close
  }
  if (artifacts === undefined || privateKey === undefined) {
    throw new SvcError('bad_option', `proving roots needs both --artifacts and ${proverKeyName}`)
  }
  const { manifest } = await readArtifacts(artifacts)
  const missing = args.chainId === Network.localChainId ? [] : [`chain ${Network.localChainId}`]
  const refused = keysRefused(manifest, missing)
  if (refused !== undefined) throw new SvcError('bad_option', `--artifacts: ${refused}`)
  const proofsAtOnce = Math.max(1, Math.min(limits.proofsAtOnceMax, Math.floor(availableParallelism() / 2)))
  const prover = createProver({ folder: artifacts, processes: proofsAtOnce, warm: ['root-16', 'root-64'] })
  const rootProver = { prover, privateKey, ceiling, gatherMs, mintGatherMs, proofsAtOnce }
  try {
    const indexer = await createIndexer({ ...rest, log, rootProver })
    return () => closeAll([indexer.close, prover.close])
  } catch (error) {
    await prover.close()
    throw error
  }
}

async function stop(close: Close, signal: string): Promise<void> {
  log({ event: 'indexer.stopping', signal })
  try {
    await close()
  } catch (error) {
    await failWith(error)
  }
  log({ event: 'indexer.stopped' })
  await exit(exitCodes.ok)
}

async function failWith(error: unknown): Promise<never> {
  process.stderr.write(`fail ${(error as Error).message}\n`)
  return exit(exitCodeFor(error))
}
