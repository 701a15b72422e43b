import { type ChainLog, indexedTransferTopic } from '@svc-zerc20/evm'
import { expect, test } from 'vitest'
import { parseTransfer } from './transfer.js'

const word = (value: bigint | number) => value.toString(16).padStart(64, '0')
const hash = (digit: string) => `0x${digit.repeat(64)}`

const log: ChainLog = {
  address: hash('0'),
  topics: [indexedTransferTopic, `0x${word(7)}`],
  data: `0x${word(0x11n)}${word(0x22n)}${word(2n ** 200n)}`,
  blockNumber: '0x10',
  blockHash: hash('a'),
  transactionHash: hash('B'),
  logIndex: '0x3',
  removed: false,
}

test('reads a transfer', () => {
  expect(parseTransfer(log)).toEqual({
    index: 7,
    from: `0x${'0'.repeat(38)}11`,
    to: `0x${'0'.repeat(38)}22`,
    value: 2n ** 200n,
    blockNumber: 16,
    blockHash: hash('a'),
    transactionHash: hash('b'),
    logIndex: 3,
  })
})

test.each([
  ['a removed log', { removed: true }],
  ['a pending log', { blockNumber: null }],
  ['another event', { topics: [hash('0'), `0x${word(7)}`] }],
  ['no place in its block', { logIndex: null }],
  ['no index', { topics: [indexedTransferTopic] }],
  ['an index beyond counting', { topics: [indexedTransferTopic, `0x${word(2n ** 60n)}`] }],
  ['short data', { data: `0x${word(1)}${word(2)}` }],
  ['an address of more than 20 bytes', { data: `0x${word(2n ** 160n)}${word(2)}${word(3)}` }],
  ['no log at all', undefined],
])('%s is the failure of the node', (_what, change) => {
  const raw = change && { ...log, ...change }
  expect(() => parseTransfer(raw as ChainLog)).toThrow(expect.objectContaining({ code: 'rpc_error' }))
})
