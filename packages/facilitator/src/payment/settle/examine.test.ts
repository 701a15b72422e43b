import { reject } from '@svc-zerc20/protocol'
import { describe, expect, it } from 'vitest'
import { stoppedClock } from '../../../../../test/support/clocks.js'
import { challengeOf, deployment, permitPayloadOf, seconds } from '../../../test/challenges.js'
import { createExamine } from './examine.js'

const challenge = challengeOf(1)
const { deadline = seconds(0) } = challenge
const payload = permitPayloadOf(challenge)

/** A chain whose blocks with two confirmations are of one time, and whose newest block is of another. */
function examineAt(times: { readonly deep: number; readonly newest: number }, executed = false) {
  const asked: string[] = []
  const examine = createExamine({
    deployment,
    ledger: { ofPayer: async () => ({ openClaims: [], waitMs: 0 }) },
    chain: {
      readHead: async () => 100n,
      blockTime: async (number: bigint) => {
        asked.push(`block ${number}`)
        return seconds(times.deep)
      },
      permitFacts: async () => {
        asked.push('permit')
        const chain = { permitNonce: 0n, balance: 0n, allowance: 0n, payerIsContract: false }
        return { ...chain, timestamp: seconds(times.newest), executed }
      },
    } as never,
    signers: async () => ({ permitSigner: payload.payer, burnAuthorizationSigner: payload.payer }),
    tickets: { of: () => '', matches: () => false },
    clock: stoppedClock(),
    confirmations: 2,
    miningSeconds: 36,
  })
  return {
    asked,
    isLost: (reason = reject('deadline_passed')) => examine.isLost({ challenge, payload }, reason),
  }
}

describe('a burn is lost', () => {
  const past = deadline + 1

  it('when blocks with all confirmations are past its deadline, and none holds it', async () => {
    const { isLost, asked } = examineAt({ deep: past, newest: past + 12 })
    expect(await isLost()).toBe(true)
    // The other way round, a reorg between the two could bring the burn unseen.
    expect(asked).toEqual(['block 98', 'permit'])
  })

  it('not while a reorg may bring a block in time', async () => {
    expect(await examineAt({ deep: deadline, newest: past }).isLost()).toBe(false)
  })

  it('not when a block has come to hold it since it was refused', async () => {
    expect(await examineAt({ deep: past, newest: past }, true).isLost()).toBe(false)
  })

  it('not when a node that is behind sees it in time, and for no other reason', async () => {
    expect(await examineAt({ deep: past, newest: deadline }).isLost()).toBe(false)
    const { isLost, asked } = examineAt({ deep: past, newest: past })
    expect(await isLost(reject('insufficient_funds') as never)).toBe(false)
    expect(asked).toEqual([])
  })
})
