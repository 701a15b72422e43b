/** The LevelDB database in the folder of the index. */
import { mkdirSync } from 'node:fs'
import { SvcError } from '@svc-zerc20/protocol'
import { ClassicLevel } from 'classic-level'
import type { indexLimits } from './limits.js'

export type Level = ClassicLevel<Buffer, Buffer>
export type Operation = { type: 'put'; key: Buffer; value: Buffer } | { type: 'del'; key: Buffer }

/** The value of a key that holds everything. */
export const nothing = Buffer.alloc(0)
export const put = (key: Buffer, value: Buffer): Operation => ({ type: 'put', key, value })
export const del = (key: Buffer): Operation => ({ type: 'del', key })

/** What a walk through the database finds, a step at a time. The walk is closed, however the reading ends. */
export async function* stepsOf<T>(
  walk: { nextv(size: number): Promise<T[]>; close(): Promise<void> },
  size: number,
): AsyncGenerator<T[]> {
  try {
    for (;;) {
      const step = await walk.nextv(size)
      if (step.length === 0) return
      yield step
    }
  } finally {
    await walk.close()
  }
}

/** A damaged database is thrown away. Throws `SvcError('history_unusable')` when the folder cannot be used. */
export async function openLevel(folder: string, limits: typeof indexLimits): Promise<Level> {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    try {
      return await opened(folder, limits)
    } catch (error) {
      if (causeOf(error)?.code !== 'LEVEL_CORRUPTION') throw error
      await ClassicLevel.destroy(folder)
      return await opened(folder, limits)
    }
  } catch (error) {
    const why = causeOf(error)?.message ?? (error as Error).message
    const help = 'No other process may use it. Without it, it is made anew from the files of the history'
    throw new SvcError('history_unusable', `${folder}: ${why}. ${help}`, { cause: error })
  }
}

async function opened(folder: string, limits: typeof indexLimits): Promise<Level> {
  const level = new ClassicLevel<Buffer, Buffer>(folder, {
    keyEncoding: 'buffer',
    valueEncoding: 'buffer',
    cacheSize: limits.cacheBytes,
    writeBufferSize: limits.writeBufferBytes,
    maxOpenFiles: limits.openFilesMax,
    maxFileSize: limits.fileBytesMax,
  })
  await level.open()
  return level
}

const causeOf = (error: unknown) => (error as Error).cause as (Error & { readonly code?: string }) | undefined
