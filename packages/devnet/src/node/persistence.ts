import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs'
import type { Hex } from 'viem'

/** The chain's genesis. A file always belongs to one genesis. */
export type PersistedGenesis = { version: 1; chainId: number; genesisTime: number; genesisHash: Hex }

/** The parts of a block that are needed to mine it again with the same hash. */
export type PersistedBlock = {
  number: number
  hash: Hex
  timestamp: number
  randomness: Hex
  transactions: Hex[]
}

type Line = { genesis: PersistedGenesis } | { block: PersistedBlock } | { rollback: number }

/** An append-only file of JSON lines: the genesis, then each block and each rollback. */
export type BlockFile = {
  genesis: PersistedGenesis | undefined
  /** The blocks of the final chain, without those that a rollback undid. */
  blocks: readonly PersistedBlock[]
  appendGenesis(genesis: PersistedGenesis): void
  appendBlock(block: PersistedBlock): void
  appendRollback(height: number): void
  close(): void
}

/** Opens or creates the file. A torn last line is cut off. Damage anywhere else throws an error with the line number. */
export function openBlockFile(path: string): BlockFile {
  const file = openSync(path, 'a+', 0o600)
  try {
    const text = readFileSync(file, 'utf8')
    // A line counts only with its newline, because the process can be killed in the middle of a write.
    const whole = text.slice(0, text.lastIndexOf('\n') + 1)
    if (whole.length < text.length) ftruncateSync(file, Buffer.byteLength(whole))
    const append = (line: Line) => void writeSync(file, `${JSON.stringify(line)}\n`)
    return {
      ...readLines(path, whole),
      appendGenesis: (genesis) => append({ genesis }),
      appendBlock: ({ number, hash, timestamp, randomness, transactions }) =>
        append({ block: { number, hash, timestamp, randomness, transactions } }),
      appendRollback: (rollback) => append({ rollback }),
      close: () => closeSync(file),
    }
  } catch (error) {
    closeSync(file)
    throw error
  }
}

function readLines(path: string, text: string): Pick<BlockFile, 'genesis' | 'blocks'> {
  let genesis: PersistedGenesis | undefined
  let blocks: PersistedBlock[] = []
  for (const [index, source] of text.split('\n').slice(0, -1).entries()) {
    const line = parseLine(source)
    const isGenesis = line !== undefined && 'genesis' in line
    if (line === undefined || isGenesis !== (index === 0)) throw damaged(path, index)
    if ('genesis' in line) genesis = line.genesis
    else if ('rollback' in line) blocks = blocks.slice(0, line.rollback)
    else if (line.block.number === blocks.length + 1) blocks.push(line.block)
    else throw damaged(path, index)
  }
  return { genesis, blocks }
}

function parseLine(source: string): Line | undefined {
  try {
    const line: unknown = JSON.parse(source)
    if (typeof line !== 'object' || line === null) return undefined
    if ('genesis' in line && isRecord(line.genesis) && line.genesis.version === 1) return line as Line
    if ('rollback' in line && Number.isSafeInteger(line.rollback)) return line as Line
    if ('block' in line && isRecord(line.block) && Array.isArray(line.block.transactions)) return line as Line
    return undefined
  } catch {
    return undefined
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function damaged(path: string, index: number): Error {
  return new Error(`${path}: line ${index + 1} is damaged; the chain cannot be restored from it`)
}
