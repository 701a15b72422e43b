/** Steps of a ledger as payments make them, in their own order and mixed with those of other payments. */
import type { Request } from '../src/store/group.js'
import {
  addressOf,
  burnOf,
  challengeOf,
  hashOf,
  permitPayloadOf,
  seconds,
  selfTransferOf,
  units,
} from './challenges.js'

export type ScriptStep = Pick<Request, 'name' | 'args'>

const recipient = addressOf(0xfee)
const fee = { amount: units(10n), bps: 100, chargeTo: 'payer', recipient } as const
const signed = (kind: number, n: number) =>
  ({ txNonce: n, hash: hashOf(kind * 1000 + n), raw: '0x02', from: addressOf(0x30) }) as const
const minter = addressOf(0x31)
const treasury = addressOf(0x32)

/** A payment from its challenge to the sweep of its fee. Some are released, demoted or disclosed on the way. */
function paymentSteps(n: number): readonly ScriptStep[] {
  const challenge = challengeOf(n, { fee })
  const { nonce, payTo } = challenge
  const step = (name: ScriptStep['name'], ...args: readonly unknown[]): ScriptStep => ({ name, args })
  const accept = step('accept', nonce, {
    ...burnOf(1000 + n),
    blockNumber: BigInt(n),
    leafIndex: BigInt(n),
  })
  const swept = { ...signed(3, n), from: treasury }
  const sweep = { recipient, amount: fee.amount, challengeNonces: [nonce] }
  return [
    step('addReady', { challengeNonce: nonce, powNonce: 1, powBits: 8, payTo }),
    step('issue', challenge, undefined),
    step('claim', nonce, permitPayloadOf(challenge, { nonce: BigInt(n) }), true, undefined),
    ...(n % 3 === 1
      ? [step('release', nonce), step('claim', nonce, selfTransferOf(challenge, 1000 + n), false, undefined)]
      : [step('recordSigned', signed(1, n), [nonce])]),
    accept,
    ...(n % 3 === 2 ? [step('demote', nonce), accept] : []),
    step('useGrants', [nonce]),
    step('recordMintSigned', { ...signed(2, n), from: minter }, [nonce]),
    step('finalize', nonce, { value: units(1000n) }, units(1000n)),
    step('disclose', nonce, addressOf(0xfa)),
    step('recordSweepSigned', sweep, swept),
    step('endSweep', swept, { kind: 'done', txHash: swept.hash, blockNumber: BigInt(n) }),
  ]
}

/** A challenge that was not paid as it asked, and transfers that were found on the chain. */
function foundSteps(n: number, transfers: number): readonly ScriptStep[] {
  const challenge = challengeOf(n)
  const late = { ...burnOf(4000 + n), value: units(900n) }
  return [
    { name: 'issue', args: [challenge, undefined] },
    { name: 'recordUnmatched', args: [challenge.nonce, { txHash: hashOf(5000 + n), reason: 'dust' }] },
    { name: 'recordLate', args: [challenge, late, 'underpaid'] },
    ...Array.from({ length: transfers }, (_, i): readonly ScriptStep[] => {
      const leafIndex = BigInt(i)
      const block = { blockNumber: BigInt(i), blockHash: hashOf(i) }
      const transfer = { ...burnOf(6000 + i), ...block, leafIndex, minedAt: seconds(1_700_000_000) }
      return [
        { name: 'putTransfer', args: [addressOf(7000 + i), transfer, 0] },
        { name: 'setFollowed', args: [{ number: i }] },
        { name: 'countTransfer', args: [challenge.payTo, leafIndex] },
      ]
    }).flat(),
  ]
}

const operatorSteps: readonly ScriptStep[] = [
  { name: 'bindAccount', args: ['relayer', { address: addressOf(0x30), txNonce: 0 }] },
  { name: 'bindAccount', args: ['minter', { address: minter, txNonce: 0 }] },
  // Not the pause, during which nothing would be issued.
  { name: 'changeSetting', args: ['switch', { words: 'back at noon' }] },
  { name: 'recordSigned', args: [signed(8, 1), [], undefined] },
  { name: 'changeSetting', args: ['switch', null] },
  // At a higher price.
  { name: 'recordSigned', args: [signed(9, 1), [], undefined] },
]

/** Groups of one to four steps. `below` draws a number below another. */
export function scriptOf(
  payments: number,
  below: (limit: number) => number,
): readonly (readonly ScriptStep[])[] {
  const parts = [
    ...Array.from({ length: payments }, (_, i) => paymentSteps(i + 1)),
    foundSteps(payments + 1, payments),
    operatorSteps,
  ].map((steps) => [...steps])
  const groups: ScriptStep[][] = []
  let group: ScriptStep[] = []
  for (;;) {
    const open = parts.filter(({ length }) => length > 0)
    if (open.length === 0) return group.length > 0 ? [...groups, group] : groups
    group.push(open[below(open.length)]?.shift() as ScriptStep)
    if (below(3) > 0 && group.length < 4) continue
    groups.push(group)
    group = []
  }
}
