/** The LevelDB database in the folder of issued addresses. Every change is one batch, synced before it resolves. */
import { mkdirSync } from 'node:fs'
import { SvcError } from '@svc-zerc20/protocol'
import { ClassicLevel } from 'classic-level'

export type Level = ClassicLevel<Buffer, Buffer>
export type Operation = { type: 'put'; key: Buffer; value: Buffer } | { type: 'del'; key: Buffer }

/** The value of a record whose key holds everything. */
export const nothing = Buffer.alloc(0)
export const put = (key: Buffer, value: Buffer): Operation => ({ type: 'put', key, value })
export const del = (key: Buffer): Operation => ({ type: 'del', key })

export const write = (level: Level, operations: readonly Operation[]): Promise<void> =>
  operations.length === 0 ? Promise.resolve() : level.batch([...operations], { sync: true })

/** Throws `SvcError('issued_unusable')` when the folder cannot be used. */
export async function openLevel(folder: string): Promise<Level> {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const level = new ClassicLevel<Buffer, Buffer>(folder, { keyEncoding: 'buffer', valueEncoding: 'buffer' })
    await level.open()
    return level
  } catch (error) {
    const why = ((error as Error).cause as Error | undefined)?.message ?? (error as Error).message
    throw new SvcError('issued_unusable', `${folder}: ${why}`, { cause: error })
  }
}
