#!/usr/bin/env node
/** `svc-indexer`: one token's indexer as a process of its own. */
import { createRequire } from 'node:module'
import { SvcError } from '@svc-zerc20/protocol'
import { createProver, type Prover } from '@svc-zerc20/prover'
import { type Arguments, createProgram, exitCodes } from './command-line.js'
import { proverKeyName, takeProverKey } from './env.js'
import { createIndexer } from './indexer.js'
import { createLog } from './log.js'
import { feeCeiling } from './root/fee-ceiling.js'
import type { RootJobOptions } from './root/root-job.js'

const { version } = createRequire(import.meta.url)('../package.json') as { version: string }

/** What only a person can mend; anything else may pass by itself. */
const mistakes = new Set(['bad_option', 'wrong_chain', 'folder_of_another_token', 'folder_unusable'])

await createProgram(version, run).parseAsync()

async function run(args: Arguments): Promise<void> {
  const log = createLog()
  let prover: Prover | undefined
  try {
    const { artifacts, gatherMs, mintGatherMs, maxFeeGwei, maxTipGwei, ...rest } = args
    const ceiling = feeCeiling({ maxFeeGwei, maxTipGwei })
    const privateKey = takeProverKey()
    if ((privateKey === undefined) !== (artifacts === undefined)) {
      throw new SvcError('bad_option', `proving roots needs both --artifacts and ${proverKeyName}`)
    }
    let rootProver: RootJobOptions | undefined
    if (artifacts !== undefined && privateKey !== undefined) {
      prover = createProver({ folder: artifacts, processes: 1, warm: ['root-16', 'root-64'] })
      rootProver = { prover, privateKey, ceiling, gatherMs, mintGatherMs }
    }
    const indexer = await createIndexer({ ...rest, log, ...(rootProver && { rootProver }) })
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.once(signal, async () => {
        log({ event: 'indexer.stopping', signal })
        await indexer.close()
        await prover?.close()
        log({ event: 'indexer.stopped' })
        process.exit(exitCodes.ok)
      })
    }
  } catch (error) {
    await prover?.close()
    process.stderr.write(`fail ${(error as Error).message}\n`)
    const isMistake = error instanceof SvcError && mistakes.has(error.code)
    process.exit(isMistake ? exitCodes.mistake : exitCodes.tryAgain)
  }
}
