import { expect, it } from 'vitest'
import { judgeBurn, type PermitFacts, type TransferFacts } from './burn-verdict.js'

const unknown = { state: 'unknown' }
const burned = { state: 'burned' }
const absent = { state: 'absent' }
const free = { state: 'unknown', seat: 'a seat' }

const permit: PermitFacts = { way: 'permit', isExecuted: false, seconds: 1_000n, deadline: 1_000n }

it.each<[string, Partial<PermitFacts>, object]>([
  ['ran', { isExecuted: true, seconds: 9_999n }, burned],
  ['may run in any block before its deadline, whatever became of its nonce', {}, unknown],
  ['is at its deadline, which a reorg could move back', { seconds: 1_060n }, unknown],
  ['is past its deadline', { seconds: 1_061n }, absent],
])('a permit that %s', (_, facts, verdict) => {
  expect(judgeBurn({ ...permit, ...facts })).toEqual(verdict)
})

const transfer: TransferFacts = {
  way: 'self-transfer',
  txNonce: 5,
  amount: 10n,
  isReplaced: false,
  receipt: 'none',
  mined: 5,
  deep: 5,
  received: 0n,
  seat: 'a seat',
}

it.each<[string, Partial<TransferFacts>, object]>([
  ['has a receipt', { receipt: 'success', isReplaced: true }, burned],
  ['reverted a moment ago, and may go through in another block', { receipt: 'reverted', mined: 6 }, unknown],
  [
    'reverted long ago, though its burn address has the amount from elsewhere',
    { receipt: 'reverted', mined: 6, deep: 6, received: 10n },
    absent,
  ],
  ['may be mined in the next block, if nothing else takes its txNonce', {}, free],
  ['lost its txNonce to a transfer of ours that was spent', { isReplaced: true }, absent],
  ['lost its txNonce a moment ago', { mined: 6 }, unknown],
  ['lost its txNonce long ago', { mined: 6, deep: 6 }, absent],
  [
    'has no receipt any more, and its burn address has the amount',
    { mined: 6, deep: 6, received: 10n },
    burned,
  ],
  ['was not mined, though its burn address has the amount from elsewhere', { received: 10n }, free],
])('a transfer that %s', (_, facts, verdict) => {
  expect(judgeBurn({ ...transfer, ...facts })).toEqual(verdict)
})

it('a chain that does not answer says nothing', () => {
  expect(judgeBurn(undefined)).toEqual(unknown)
})
