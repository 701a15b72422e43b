import { describe, expect, it } from 'vitest'
import { parseReceipt } from './receipts.js'

const good = {
  transactionHash: `0x${'1'.repeat(64)}`,
  blockHash: `0x${'2'.repeat(64)}`,
  blockNumber: '0x10',
  status: '0x1',
  logs: [],
}

describe('parseReceipt', () => {
  it('reads a receipt, and null as none', () => {
    expect(parseReceipt(good)).toMatchObject({ succeeded: true, blockNumber: 16n })
    expect(parseReceipt({ ...good, status: '0x0' })).toMatchObject({ succeeded: false })
    expect(parseReceipt(null)).toBeUndefined()
  })

  // A receipt that passes here reaches the journal, and an unreadable journal stops every later start.
  it.each([
    ['no block hash', { blockHash: null }],
    ['a short block hash', { blockHash: '0x12' }],
    ['no transaction hash', { transactionHash: undefined }],
    ['a height that is no number', { blockNumber: 'soon' }],
    ['a height beyond reason', { blockNumber: `0x${'f'.repeat(70)}` }],
    ['no logs', { logs: null }],
  ])('refuses one with %s', (_, change) => {
    expect(() => parseReceipt({ ...good, ...change })).toThrow(expect.objectContaining({ code: 'rpc_error' }))
  })
})
