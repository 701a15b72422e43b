import type { Receipt } from '@svc-zerc20/evm'
import type { Address, TxHash } from '@svc-zerc20/protocol'
import { describe, expect, it } from 'vitest'
import { emptyCall, newVersion, nextStep, openSlot, type Slot, versionToSend } from './slot.js'

const limits = { rebroadcastMs: 2_000, priceBumpAfterMs: 12_000, displacedAfterMs: 10_000, refusalsMax: 3 }
const price = { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n }
const versionOf = (digit: number, isEmpty = false) =>
  newVersion({ hash: `0x${digit}` as TxHash, raw: '0x', price }, { isEmpty })

const slotOf = (versions = [versionOf(1)]): Slot =>
  openSlot(
    {
      txNonce: 5,
      call: { purpose: 'burn', ...emptyCall('0x' as Address, async () => undefined) },
      versions,
      end: () => undefined,
    },
    { signedAtMs: 0, sentAtMs: 0 },
  )

const receiptAt = (blockNumber: bigint): Receipt => ({
  transactionHash: '0x1' as TxHash,
  succeeded: true,
  blockNumber,
  blockHash: '0x',
  logs: [],
})

type Seen = {
  receipts?: (Receipt | undefined | 'unreadable')[]
  head?: bigint
  usedTxNonces?: number
  answeredMs?: number
}

/**
 * The step of a slot, given the node's view. By default the node answers at the instant at which it was asked, and the
 * slot waits at the front, unmined.
 */
function stepAt(
  slot: Slot,
  askedMs: number,
  { receipts, head = 100n, usedTxNonces = 5, answeredMs = askedMs }: Seen = {},
  confirmations = 1,
) {
  const shown = receipts ?? slot.versions.map(() => undefined)
  const seen = { head: { number: head }, usedTxNonces }
  return nextStep(slot, shown, seen, { askedMs, answeredMs, confirmations, limits })
}

describe('the next step of a slot', () => {
  it('is to wait, then to send again, then to raise the price when it is the oldest', () => {
    const kinds = [0, 1_999, 2_000, 11_999, 12_000].map((now) => stepAt(slotOf(), now).kind)
    expect(kinds).toEqual(['wait', 'wait', 'send_again', 'send_again', 'raise_price'])
    expect(stepAt(slotOf(), 12_000, { usedTxNonces: 4 }).kind).toBe('send_again')
  })

  it('is to send again, at the same price, while there is no money', () => {
    const slot = slotOf()
    slot.unfunded = true
    expect(stepAt(slot, 60_000).kind).toBe('send_again')
  })

  it.each([
    ['its own block counts', 100n, 1, 'mined'],
    ['too shallow', 100n, 2, 'wait'],
    ['just deep enough', 99n, 2, 'mined'],
    ['a receipt newer than the head', 103n, 1, 'mined'],
    ['a receipt newer than the head, and one block is not enough', 103n, 2, 'wait'],
  ] as const)('with a receipt depends on its depth: %s', (_what, block, confirmations, kind) => {
    const seen = { receipts: [receiptAt(block)], usedTxNonces: 6 }
    expect(stepAt(slotOf(), 0, seen, confirmations).kind).toBe(kind)
  })

  it('is the end of the call when the empty version was mined, and mined when another was', () => {
    const slot = slotOf([versionOf(1), versionOf(2, true)])
    const empty = stepAt(slot, 0, { receipts: [undefined, receiptAt(100n)] })
    expect(empty).toEqual({ kind: 'displaced', why: 'refused' })
    expect(stepAt(slot, 0, { receipts: [receiptAt(100n), undefined] }).kind).toBe('mined')
  })

  it('is displaced only after its nonce was used for long, and readably without a receipt', () => {
    const slot = slotOf()
    const used = { usedTxNonces: 6 }
    expect(stepAt(slot, 1_000, used).kind).toBe('wait')
    expect(stepAt(slot, 10_999, used).kind).toBe('wait')
    expect(stepAt(slot, 11_000, { ...used, receipts: ['unreadable'] }).kind).toBe('wait')
    expect(stepAt(slot, 11_000, used)).toEqual({ kind: 'displaced', why: 'foreign' })
    // The count begins again when the node takes its word back.
    stepAt(slot, 12_000)
    expect(stepAt(slot, 13_000, used).kind).toBe('wait')
  })

  it('is not displaced by an answer that took long: what it says is no newer than the question', () => {
    const slot = slotOf()
    const used = { usedTxNonces: 6 }
    expect(stepAt(slot, 1_000, { ...used, answeredMs: 30_000 }).kind).toBe('wait')
    expect(stepAt(slot, 30_001, { ...used, answeredMs: 60_000 }).kind).toBe('wait')
    expect(stepAt(slot, 40_000, used)).toEqual({ kind: 'displaced', why: 'foreign' })
  })

  it('is to give up once every version was refused for good, often enough, and only once', () => {
    const slot = slotOf([versionOf(1), versionOf(2)])
    slot.refusals = 3
    for (const version of slot.versions) {
      expect(stepAt(slot, 0).kind).toBe('wait')
      version.isRefused = true
    }
    expect(stepAt(slot, 0).kind).toBe('give_up')
    slot.refusals = 2
    expect(stepAt(slot, 0).kind).toBe('wait')
    slot.refusals = 9
    slot.versions.push(versionOf(3, true))
    expect(stepAt(slot, 2_000).kind).toBe('send_again')
  })
})

describe('the version to send', () => {
  it('is the newest that was not refused for good, or the newest of all', () => {
    const slot = slotOf([versionOf(1), versionOf(2), versionOf(3)])
    const [first, second, third] = slot.versions
    expect(versionToSend(slot)).toBe(third)
    for (const version of [third, second]) if (version) version.isRefused = true
    expect(versionToSend(slot)).toBe(first)
    if (first) first.isRefused = true
    expect(versionToSend(slot)).toBe(third)
  })
})
