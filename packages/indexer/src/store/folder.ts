/** Opening a folder: LevelDB with its lock, and the token that the folder belongs to. */
import { mkdirSync } from 'node:fs'
import { type Address, SvcError } from '@svc-zerc20/protocol'
import { ClassicLevel } from 'classic-level'
import { decodeBlock, encodeBlock, keys, type SyncedBlock } from './record.js'

export type Level = ClassicLevel<Buffer, Buffer>

/** The chain, token and first block that a folder belongs to. Any others are refused. */
export type Binding = { readonly chainId: number; readonly token: Address; readonly fromBlock: number }

/**
 * Opens or creates a folder. `start` returns the block before the token's first, and is called only for a new
 * folder. Throws `SvcError('folder_locked')`, `SvcError('folder_of_another_token')` or
 * `SvcError('folder_unusable')`.
 */
export async function openFolder(deps: {
  folder: string
  binding: Binding
  start: () => Promise<SyncedBlock>
}): Promise<Level> {
  const level = await openLevel(deps.folder)
  try {
    await bind(level, deps.binding, deps.start)
    return level
  } catch (error) {
    await level.close()
    throw error
  }
}

async function openLevel(folder: string): Promise<Level> {
  let level: Level
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    level = new ClassicLevel<Buffer, Buffer>(folder, { keyEncoding: 'buffer', valueEncoding: 'buffer' })
    await level.open()
  } catch (error) {
    const cause = (error as Error).cause as { code?: string; message?: string } | undefined
    if (cause?.code === 'LEVEL_LOCKED') {
      throw new SvcError('folder_locked', `${folder}: another process has this folder open`, { cause: error })
    }
    const why = cause?.message ?? (error as Error).message
    throw new SvcError('folder_unusable', `${folder}: ${why}`, { cause: error })
  }
  return level
}

const format = 1

async function bind(level: Level, binding: Binding, start: () => Promise<SyncedBlock>): Promise<void> {
  const text = JSON.stringify({ format, ...binding })
  const found = level.getSync(keys.binding)
  if (found === undefined) {
    const first = encodeBlock(await start())
    const puts: [Buffer, Buffer][] = [
      [keys.binding, Buffer.from(text)],
      [keys.head, first],
      [keys.verified, first],
      [keys.block(decodeBlock(first).number), first],
    ]
    await level.batch(
      puts.map(([key, value]) => ({ type: 'put', key, value })),
      { sync: true },
    )
  } else if (found.toString('utf8') !== text) {
    throw new SvcError('folder_of_another_token', `the folder belongs to ${found}, not to ${text}`)
  }
}
