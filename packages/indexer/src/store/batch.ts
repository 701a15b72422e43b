/** Changes that are written together: all of them or none, and on the disk before the next ones begin. */
import { type NodeStore, treeHeight } from '@svc-zerc20/zk'
import type { Level } from './folder.js'
import { decodeWord, encodeWord, keys } from './record.js'

export type Batch = {
  put(key: Buffer, value: Buffer): void
  del(key: Buffer): void
  /** The nodes of the tree, including those of this batch: the tree needs them before they are stored. */
  readonly nodes: NodeStore
  isEmpty(): boolean
  /**
   * Runs `fill`, which puts and deletes, and writes the changes. If anything fails, all changes are
   * forgotten.
   */
  write(fill: () => Promise<void> | void): Promise<void>
}

type Operation = { type: 'put'; key: Buffer; value: Buffer } | { type: 'del'; key: Buffer }

/** `storedSize` returns the number of leaves of the tree on the disk. */
export function createBatch(level: Level, storedSize: () => number): Batch {
  let operations: Operation[] = []
  const fresh = new Map<string, bigint>()
  const put = (key: Buffer, value: Buffer) => void operations.push({ type: 'put', key, value })
  const del = (key: Buffer) => void operations.push({ type: 'del', key })
  return {
    put,
    del,
    nodes: {
      get(height, index) {
        const value = fresh.get(`${height}/${index}`)
        if (value !== undefined) return value
        const found = level.getSync(keys.node(height, index))
        return found && decodeWord(found)
      },
      put(height, index, hash) {
        fresh.set(`${height}/${index}`, hash)
        put(keys.node(height, index), encodeWord(hash))
      },
      truncate(size) {
        for (let height = 0; height <= treeHeight; height++) {
          const end = Math.floor(storedSize() / 2 ** height)
          for (let index = Math.floor(size / 2 ** height); index < end; index++) del(keys.node(height, index))
        }
      },
    },
    isEmpty: () => operations.length === 0,
    async write(fill) {
      try {
        await fill()
        await level.batch(operations, { sync: true })
      } finally {
        operations = []
        fresh.clear()
      }
    },
  }
}
