import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Hex } from 'viem'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { rpc } from '../../../test/rpc.js'
import { transfer } from '../../../test/transfers.js'
import { type Chain, type ChainOptions, startChain } from '../chain.js'

let folder: string
let persistence: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'chain-'))
  persistence = join(folder, 'blocks.jsonl')
})

afterEach(() => rmSync(folder, { recursive: true }))

async function withChain<T>(use: (chain: Chain) => Promise<T>, options: ChainOptions = {}): Promise<T> {
  const chain = await startChain({ persistence, mining: { mode: 'manual' }, ...options })
  try {
    return await use(chain)
  } finally {
    await chain.close()
  }
}

const send = async (chain: Chain, raw: Hex) => (await chain.request('eth_sendRawTransaction', [raw])) as Hex
const head = (chain: Chain) => chain.request('eth_getBlockByNumber', ['latest', false])

async function busyHours(chain: Chain) {
  await send(chain, await transfer(0))
  await send(chain, await transfer(1, { maxFeeGwei: '20' }))
  await chain.mine(2)
  await chain.increaseTime(3_600)
  await send(chain, await transfer(2))
  await chain.mine()
  await chain.reorg(2, { keepTransactions: true })
  const snapshot = await chain.snapshot()
  await chain.mine(3)
  await chain.revert(snapshot)
  await chain.mine()
  return head(chain)
}

test('a chain goes on where it ended, block by block the same', async () => {
  const before = await withChain(busyHours)
  const { again, after } = await withChain(async (chain) => {
    const restored = await head(chain)
    await send(chain, await transfer(3))
    await chain.mine()
    return { again: restored, after: await head(chain) }
  })
  expect(again).toEqual(before)
  expect(await withChain(head)).toEqual(after)
})

test('a torn last line costs that block only', async () => {
  await withChain((chain) => chain.mine(3))
  const lines = readFileSync(persistence, 'utf8').trimEnd().split('\n')
  writeFileSync(persistence, `${lines.slice(0, 3).join('\n')}\n${lines[3]?.slice(0, 40)}`)
  expect(await withChain(async (chain) => Number(await chain.request('eth_blockNumber')))).toBe(2)
})

test('restored blocks can be reorganised', async () => {
  const hash = await withChain(async (chain) => {
    const sent = await send(chain, await transfer(0))
    await chain.mine()
    return sent
  })
  await withChain(async (chain) => {
    await chain.reorg(1)
    expect(await chain.request('eth_getTransactionReceipt', [hash])).toBeNull()
  })
})

test('a file of another genesis is refused', async () => {
  await withChain((chain) => chain.mine())
  await expect(startChain({ persistence, balanceWei: 1n })).rejects.toThrow(/other accounts/)
  await expect(startChain({ persistence, chainId: 5 })).rejects.toThrow(/another chain id/)
})

test('a block that does not come out the same is refused', async () => {
  await withChain((chain) => chain.mine())
  const changed = readFileSync(persistence, 'utf8').replace(/"timestamp":\d+/, '"timestamp":9999999999')
  writeFileSync(persistence, changed)
  await expect(startChain({ persistence })).rejects.toThrow(/persisted block 1 gave/)
})

test('a damaged line stops the start', async () => {
  await withChain((chain) => chain.mine())
  appendFileSync(persistence, 'rubbish\n')
  await expect(startChain({ persistence })).rejects.toThrow(/line 3 is damaged/)
})

test('state cannot be edited behind a persisted chain, and can behind another', async () => {
  const address = `0x${'ab'.repeat(20)}`
  const edit = (chain: Chain) => rpc(chain.rpcUrl, 'hardhat_setBalance', [address, '0x7'])
  await withChain((chain) => expect(edit(chain)).rejects.toThrow(/-32601/))
  const chain = await startChain()
  await edit(chain)
  expect(await chain.request('eth_getBalance', [address, 'latest'])).toBe('0x7')
  await chain.close()
})
