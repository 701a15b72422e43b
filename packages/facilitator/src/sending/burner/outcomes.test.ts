/** The search for a burn that somebody else sent with the same permit. */
import { permitBurnerAbi } from '@svc-zerc20/contracts'
import type { Receipt } from '@svc-zerc20/evm'
import { encodeAbiParameters, encodeErrorResult, toEventSelector } from 'viem/utils'
import { describe, expect, it } from 'vitest'
import { jumpingClock } from '../../../../../test/support/clocks.js'
import { addressOf, burnOf, challengeOf, permitPayloadOf } from '../../../test/challenges.js'
import { limits } from '../../config/limits.js'
import { createBurnOutcomes } from './outcomes.js'

const challenge = challengeOf(1)
const item = { challenge, payload: permitPayloadOf(challenge) }
const burn = burnOf(1)

/** A search on a chain that shows these looks, one for each question. The last look is shown again and again. */
function searched(looks: readonly { head?: bigint; isShown?: boolean; isHeld?: boolean; times?: number }[]) {
  const shown = looks.flatMap(({ times = 1, ...look }) => Array.from({ length: times }, () => look))
  let asked = 0
  let look = shown[0]
  const closing = new AbortController()
  return createBurnOutcomes({
    chain: {
      async findExecutedBurn() {
        look = shown[Math.min(asked, shown.length - 1)]
        asked += 1
        // Ends a search that would go on for ever.
        if (asked > shown.length + 2 * missing) closing.abort()
        return look?.isShown ? burn : undefined
      },
      permitFacts: async () => ({ executed: look?.isHeld ?? false }) as never,
      headNumber: () => look?.head ?? 0n,
      balances: async () => [],
    },
    token: addressOf(2),
    helper: addressOf(3),
    confirmations: 2,
    clock: jumpingClock(),
    onRpcFailure: () => undefined,
    closing: closing.signal,
  })
}

const search = (...looks: Parameters<typeof searched>) => searched(...looks).executed(item)

const shallow = { isShown: true, isHeld: true, head: burn.blockNumber }
const deep = { ...shallow, head: burn.blockNumber + 1n }
const hidden = { isHeld: true }
const gone = { isHeld: false }
const missing = limits.laggingNodeReadsMax

describe('a burn that a stranger sent', () => {
  it('is waited for until it has its confirmations', async () => {
    expect(await search([shallow, shallow, deep])).toEqual({ kind: 'burned', burn })
  })

  it('is searched for as long as the replay ledger holds it', async () => {
    expect(await search([{ ...hidden, times: 3 * missing }, deep])).toEqual({ kind: 'burned', burn })
  })

  it('is given up when a reorg took it back, and no earlier than a node that lags would show it', async () => {
    expect(await search([shallow, gone])).toMatchObject({
      kind: 'failed',
      rejection: { reason: 'burn_failed' },
    })
    const lagging = { ...gone, times: missing - 1 }
    expect(await search([shallow, lagging, shallow, lagging, deep])).toEqual({ kind: 'burned', burn })
  })

  it('is found though ours was mined behind the deadline, which the helper tells of before it looks whether it was executed', async () => {
    const reason = encodeErrorResult({ abi: permitBurnerAbi, errorName: 'BurnExpired', args: [1n] })
    const receipt = {
      transactionHash: burn.txHash,
      succeeded: true,
      blockNumber: burn.blockNumber,
      blockHash: burn.blockHash,
      logs: [
        {
          address: addressOf(3),
          topics: [toEventSelector('BurnFailed(bytes32,bytes)'), challenge.nonce],
          data: encodeAbiParameters([{ type: 'bytes' }], [reason]),
        },
      ],
    } as unknown as Receipt
    for (const [looks, kind] of [
      [[deep], 'burned'],
      [[gone], 'failed'],
    ] as const) {
      const outcomes = searched([...looks])
      const [outcome] = await outcomes.inReceipt([item], receipt)
      if (outcome?.kind !== 'find_again') throw new Error(`${outcome?.kind}`)
      expect(await outcomes.findAgain(item, outcome.otherwise)).toMatchObject(
        kind === 'burned' ? { kind, burn } : { kind, rejection: { reason: 'deadline_passed' } },
      )
    }
  })
})
