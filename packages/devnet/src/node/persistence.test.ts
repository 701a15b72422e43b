import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openBlockFile, type PersistedBlock } from './persistence.js'

let folder: string
let path: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'block-file-'))
  path = join(folder, 'blocks.jsonl')
})

afterEach(() => rmSync(folder, { recursive: true }))

const genesis = { version: 1, chainId: 31_337, genesisTime: 1, genesisHash: '0x00' } as const

function block(number: number, timestamp = number): PersistedBlock {
  return { number, hash: '0xaa', timestamp, randomness: '0xbb', transactions: ['0xcc'] }
}

function write(...blocks: PersistedBlock[]) {
  const file = openBlockFile(path)
  file.appendGenesis(genesis)
  for (const each of blocks) file.appendBlock(each)
  return file
}

function reopen() {
  const file = openBlockFile(path)
  file.close()
  return file
}

test('what was written is read again', () => {
  write(block(1), block(2)).close()
  expect(reopen()).toMatchObject({ genesis, blocks: [block(1), block(2)] })
})

test('blocks that a rollback undid do not come back', () => {
  const file = write(block(1), block(2), block(3))
  file.appendRollback(1)
  file.appendBlock(block(2, 99))
  file.close()
  expect(reopen().blocks).toEqual([block(1), block(2, 99)])
})

test('a torn last line is cut off and writing goes on after it', () => {
  write(block(1)).close()
  appendFileSync(path, '{"block":{"number":2,"ha')
  const file = openBlockFile(path)
  expect(file.blocks).toEqual([block(1)])
  file.appendBlock(block(2))
  file.close()
  expect(reopen().blocks).toEqual([block(1), block(2)])
})

test('a file torn in its first line starts again', () => {
  writeFileSync(path, '{"genesis":{"ver')
  expect(reopen().genesis).toBeUndefined()
  expect(readFileSync(path, 'utf8')).toBe('')
})

test.each([
  ['text that is no JSON', 'rubbish'],
  ['a block out of order', JSON.stringify({ block: block(7) })],
  ['a second genesis', JSON.stringify({ genesis })],
  ['a line of another kind', '{"other":1}'],
])('%s in the middle is an error with its line number', (_what, line) => {
  write(block(1)).close()
  appendFileSync(path, `${line}\n${JSON.stringify({ block: block(2) })}\n`)
  expect(() => openBlockFile(path)).toThrow(/line 3 is damaged/)
})
