import { describe, expect, it } from 'vitest'
import { burnOf, challengeOf, hashOf, seconds, units } from '../../../test/challenges.js'
import type { RecordedPayment } from '../records.js'
import { besideBurnOf, type FoundTransfer, judgeTransfers } from './judge-transfers.js'

const challenge = challengeOf(1)
const expiry = challenge.expiresAt
const open: RecordedPayment = { challenge, granted: false }

const transfer = (value: bigint, leafIndex = 1, minedAt = expiry + 5): FoundTransfer => ({
  ...burnOf(leafIndex),
  leafIndex: BigInt(leafIndex),
  value: units(value),
  minedAt: seconds(minedAt),
})
const burn = ({ minedAt: _, ...rest }: FoundTransfer) => rest
const accepted = (of: FoundTransfer): RecordedPayment => ({
  ...open,
  claim: { identity: '', ticketed: false },
  accepted: { burn: burn(of), at: seconds(expiry) },
})

const judge = (
  transfers: readonly FoundTransfer[],
  payment: RecordedPayment | undefined = open,
  { now = expiry + 60, dustBelow = 0n } = {},
) => judgeTransfers({ challenge, payment, transfers, now, dustBelow })

describe('transfers that nobody asked for', () => {
  it('are their payer’s until the challenge expires', () => {
    expect(judge([transfer(1000n)], open, { now: expiry - 1 })).toEqual({ kind: 'wait', until: expiry })
    expect(judge([transfer(1000n)], open, { now: expiry }).kind).toBe('mint')
  })

  it.each([
    ['late', [transfer(1000n)]],
    ['late', [transfer(1000n, 1, expiry)]],
    ['unpresented', [transfer(1000n, 1, expiry - 1)]],
    ['underpaid', [transfer(999n)]],
    ['split', [transfer(600n), transfer(400n, 2)]],
  ])('are minted as %s, whether the ledger still knows the challenge or not', (reason, transfers) => {
    const [largest] = transfers
    for (const payment of [open, undefined]) {
      expect(judge(transfers, payment)).toEqual({ kind: 'mint', burn: largest && burn(largest), reason })
    }
  })

  it('beside an accepted or a late burn are left alone, also larger ones', () => {
    const known = transfer(1000n)
    const late = { ...open, late: { burn: burn(known), reason: 'late' as const, at: seconds(1) } }
    for (const payment of [accepted(known), late])
      expect(judge([known, transfer(1001n, 2)], payment)).toEqual({ kind: 'nothing' })
  })

  it('that are worth less than a mint are not minted, unless they pay in full', () => {
    const options = { dustBelow: 2000n }
    expect(judge([transfer(999n)], open, options).kind).toBe('nothing')
    expect(judge([transfer(1000n)], open, options).kind).toBe('mint')
  })

  it('of a claimed challenge are accepted when they are what was presented, and wait otherwise', () => {
    const claimed = (seed: number) => ({
      ...open,
      claim: { identity: '', ticketed: false, txHash: hashOf(seed) },
    })
    const now = expiry + 60
    expect(judge([transfer(1000n)], claimed(1))).toEqual({ kind: 'accept', burn: burn(transfer(1000n)) })
    // One transaction may pay twice. A proof brings the largest transfer.
    const [first, larger] = [transfer(1000n), { ...transfer(1500n), leafIndex: 7n }]
    expect(judge([first, larger], claimed(1))).toEqual({ kind: 'accept', burn: burn(larger) })
    for (const [transfers, payment] of [
      [[transfer(1000n)], claimed(2)],
      [[transfer(999n)], claimed(1)],
      [[transfer(1000n)], { ...open, claim: { identity: '', ticketed: false } }],
    ] as const) {
      expect(judge(transfers, payment)).toEqual({ kind: 'wait', until: now + 60 })
    }
  })
})

describe('what lies beside the burn on record', () => {
  it('is everything but its leaf, also when a reorg moved it', () => {
    const [known, twin, other] = [transfer(1000n), { ...transfer(1000n), leafIndex: 2n }, transfer(5n, 3)]
    expect(besideBurnOf(accepted(known), [known, twin, other])).toEqual([twin, other])
    expect(besideBurnOf(accepted({ ...known, leafIndex: 9n }), [known, other])).toEqual([other])
    expect(besideBurnOf(undefined, [other])).toEqual([other])
  })
})
