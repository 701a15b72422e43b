/** The devnet's indexer, which tests kill and restart with the same address and folder. */
import { join } from 'node:path'
import { startIndexer } from '@svc-zerc20/devnet'
import { until } from '../../support/until.js'
import type { CrashNetwork } from './network.js'

export function createIndexerRuns(net: CrashNetwork, { gatherMs }: { readonly gatherMs: number }) {
  let pid = net.pids.indexer ?? 0
  let stop: () => Promise<void> = async () => undefined

  return {
    pid: () => pid,
    async killAndRestart(): Promise<void> {
      process.kill(pid, 'SIGKILL')
      await until(() => !isRunning(pid))
      const next = await startIndexer({
        rpcUrl: net.rpcUrl,
        deployment: net.deployment,
        artifacts: net.artifacts ?? '',
        folder: join(net.directory, 'indexer'),
        directory: net.directory,
        port: Number(new URL(net.indexerUrl).port),
        gatherMs,
      })
      pid = next.pid
      stop = next.stop
    },
    close: () => stop(),
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
