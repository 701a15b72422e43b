/** The disk without the daemon: the time of a short append and its sync, as the journal makes them. */
import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { percentile } from './figures.js'

export type Times = { readonly p50Ms: number; readonly p99Ms: number }

/** About as long as the journal's line of a challenge. */
const line = `${'x'.repeat(511)}\n`

export function measureDisk(folder: string, appends: number): Times {
  const path = join(folder, 'disk-alone')
  const file = openSync(path, 'w')
  try {
    const tookMs = Array.from({ length: appends }, () => {
      const startedAt = performance.now()
      writeSync(file, line)
      fdatasyncSync(file)
      return performance.now() - startedAt
    })
    return { p50Ms: percentile(tookMs, 0.5), p99Ms: percentile(tookMs, 0.99) }
  } finally {
    closeSync(file)
    rmSync(path)
  }
}
