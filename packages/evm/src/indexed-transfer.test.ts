import { tokenAbi } from '@svc-zerc20/contracts'
import { parseAddress } from '@svc-zerc20/protocol'
import { encodeAbiParameters, encodeEventTopics, pad, toHex } from 'viem/utils'
import { describe, expect, it } from 'vitest'
import {
  indexedTransferTopic,
  parsePlacedTransfer,
  placedTransfersIn,
  transfersIn,
} from './indexed-transfer.js'
import type { ChainLog } from './receipts.js'

const addressOf = (byte: string) => parseAddress(`0x${byte.repeat(20)}`) ?? expect.fail()
const hash = (digit: string) => `0x${digit.repeat(64)}`
const [token, from, to] = [addressOf('a1'), addressOf('0b'), addressOf('0c')]

const log: ChainLog = {
  address: token.toUpperCase().replace('0X', '0x'),
  topics: [indexedTransferTopic, pad(toHex(7))],
  data: encodeAbiParameters(
    [{ type: 'address' }, { type: 'address' }, { type: 'uint256' }],
    [from, to, 2n ** 200n],
  ),
  blockNumber: '0x10',
  blockHash: hash('a'),
  transactionHash: hash('B'),
}
const transfer = { leafIndex: 7n, from, to, value: 2n ** 200n }
const place = { txHash: hash('b'), blockNumber: 16n, blockHash: hash('a') }

it('IndexedTransfer has the topic that the token emits', () => {
  expect(encodeEventTopics({ abi: tokenAbi, eventName: 'IndexedTransfer' })[0]).toBe(indexedTransferTopic)
})

describe('transfers among logs', () => {
  it('are those of the token, in log order', () => {
    const others = [
      { ...log, address: from },
      { ...log, topics: [hash('0')] },
    ]
    const second = { ...log, topics: [indexedTransferTopic, pad(toHex(8))] }
    expect(transfersIn([...others, log, second], token)).toEqual([transfer, { ...transfer, leafIndex: 8n }])
  })

  it('have their place where it is asked for', () => {
    expect(placedTransfersIn([{ ...log, address: from }, log], token)).toEqual([{ ...transfer, ...place }])
    expect(parsePlacedTransfer(log)).toEqual({ ...transfer, ...place })
  })

  it.each<[string, Partial<ChainLog>]>([
    ['no leaf index', { topics: [indexedTransferTopic] }],
    ['a leaf index beyond counting', { topics: [indexedTransferTopic, pad(toHex(2n ** 60n))] }],
    ['short data', { data: log.data.slice(0, -64) }],
    ['an address of more than 20 bytes', { data: log.data.replace('0x00', '0x01') }],
  ])('with %s are the failure of the node', (_what, change) => {
    const failure = expect.objectContaining({ code: 'rpc_error' })
    expect(() => transfersIn([{ ...log, ...change }], token)).toThrow(failure)
    expect(() => placedTransfersIn([{ ...log, ...change }], token)).toThrow(failure)
  })

  it.each<[string, unknown]>([
    ['a removed log', { ...log, removed: true }],
    ['a pending log', { ...log, blockNumber: null }],
    ['a log without its transaction', { ...log, transactionHash: null }],
    ['a log without its block', { ...log, blockHash: null }],
    ['another event', { ...log, topics: [hash('0'), hash('0')] }],
    ['nothing', null],
  ])('have no place in %s', (_what, raw) => {
    expect(() => parsePlacedTransfer(raw as ChainLog)).toThrow(expect.objectContaining({ code: 'rpc_error' }))
  })
})
