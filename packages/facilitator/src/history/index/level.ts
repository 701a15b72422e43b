/** The LevelDB database in the folder of the index. */
import { mkdirSync } from 'node:fs'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
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

/**
 * A damaged database is thrown away, which `onDamage` is told. Throws `SvcError('history_unusable')` when the folder cannot
 * be used.
 */
export async function openLevel(
  folder: string,
  limits: typeof indexLimits,
  onDamage: (error: unknown) => void,
): Promise<Level> {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    try {
      return await opened(folder, limits)
    } catch (error) {
      if (!isDamage(error)) throw error
      onDamage(error)
      await emptyFolder(folder)
      return await opened(folder, limits)
    }
  } catch (error) {
    const why = causeOf(error)?.message ?? (error as Error).message
    const help =
      'Its folder must belong to the daemon, and no other process may use it. It is made anew from the files of the ' +
      'history when it is deleted'
    throw new SvcError('history_unusable', `PAYMENT_HISTORY_PATH: the index ${folder}: ${why}. ${help}`, {
      cause: error,
    })
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

/** Deletes what is in the folder, and leaves the folder, which may be a link to another disk. */
export async function emptyFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true })
}

const causeOf = (error: unknown) => (error as Error).cause as (Error & { readonly code?: string }) | undefined

/** What LevelDB says where a file of it is missing or cut short. A full or failing disk gives other words. */
const lostFile = /No such file or directory|Invalid argument/

/** Whether the database is damaged or contradicts itself, so that only a new one helps. */
export function isDamage(error: unknown): boolean {
  return [error, causeOf(error)].some((each) => {
    const { code, message } = (each ?? {}) as Error & { readonly code?: string }
    if (code === 'history_corrupt' || code === 'LEVEL_CORRUPTION') return true
    return code === 'LEVEL_IO_ERROR' && lostFile.test(message)
  })
}

/** Whether the database itself gave the error, as when the disk fails, or while it is opened again. */
export const isOfLevel = (error: unknown): boolean =>
  `${(error as { code?: unknown }).code}`.startsWith('LEVEL_')
