import { expect, test } from 'vitest'
import { createMempool, lastOfOverdrawn, type PooledTransaction } from './mempool.js'

function transaction(hash: `0x${string}`, nonce: number, from: `0x${string}` = '0xaa'): PooledTransaction {
  return { hash, raw: '0x', from, nonce, maxFeePerGas: 1n, costWei: 10n }
}

test('transactions are listed in order of arrival', () => {
  const mempool = createMempool()
  mempool.add(transaction('0x2', 2))
  mempool.add(transaction('0x1', 1))
  expect(mempool.list().map(({ hash }) => hash)).toEqual(['0x2', '0x1'])
})

test('a transaction takes the place of the one with its sender and nonce, and of no other', () => {
  const mempool = createMempool()
  mempool.add(transaction('0x1', 1))
  mempool.add(transaction('0x2', 1, '0xbb'))
  mempool.add(transaction('0x3', 1))
  expect(mempool.list().map(({ hash }) => hash)).toEqual(['0x2', '0x3'])
})

test('a removed transaction is handed back once', () => {
  const mempool = createMempool()
  mempool.add(transaction('0x1', 1))
  expect(mempool.remove('0x1')?.hash).toBe('0x1')
  expect(mempool.remove('0x1')).toBeUndefined()
})

test('of a sender that cannot pay for all it sent, the last transaction is found by nonce', async () => {
  const waiting = [transaction('0x1', 1, '0xbb'), transaction('0x3', 3), transaction('0x2', 2)]
  const balances: Record<string, bigint> = { '0xaa': 19n, '0xbb': 10n }
  const balanceOf = async (address: string) => balances[address] ?? 0n
  expect((await lastOfOverdrawn(waiting, balanceOf))?.hash).toBe('0x3')
  balances['0xaa'] = 20n
  expect(await lastOfOverdrawn(waiting, balanceOf)).toBeUndefined()
})
