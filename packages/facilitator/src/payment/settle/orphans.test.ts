import { type Address, reject } from '@svc-zerc20/protocol'
import { describe, expect, it } from 'vitest'
import { addressOf, challengeOf, hashOf, permitPayloadOf } from '../../../test/challenges.js'
import type { Ledger } from '../ledger-port.js'
import type { Examine } from './examine.js'
import { createOrphans } from './orphans.js'

const challenge = challengeOf(1)
const { deadline = 0 } = challenge
const transaction = { txNonce: 0, hash: hashOf(9), raw: '0x09', from: addressOf(0xb1) } as const
const account: Address = addressOf(0xb2)

/** One signed burn of a daemon that is gone, on a chain that sees it so, at this time of its deep blocks; and what happens. */
async function round(
  seen: Awaited<ReturnType<Examine['permit']>>,
  deepTime: number,
  orphan: 'gone' | 'back' = 'gone',
  { isDemoted = false, rounds = 1 } = {},
) {
  const done: string[] = []
  let isFenced = false
  const endOrphans = createOrphans({
    ledger: {
      orphaned: async () =>
        isFenced && orphan === 'back'
          ? []
          : [
              {
                account: transaction.from,
                signed: [transaction],
                items: [{ challenge, payload: permitPayloadOf(challenge) }],
              },
            ],
      find: async () => ({ challenge, granted: true, ...(isDemoted && { demoted: {} as never }) }),
      release: (async (_, why) => {
        if (isDemoted) return 'kept'
        done.push(`released: ${why?.reason}`)
        return 'released'
      }) satisfies Ledger['release'],
    },
    burns: {
      isUnderWay: () => false,
      start: (_, verdict) => void done.push(`found: ${verdict}`),
    },
    examine: { permit: async () => seen },
    chain: {
      readHead: async () => 100n,
      blockTime: async (number) => (number === 98n ? (deepTime as never) : undefined),
    },
    fence: async (gone) => {
      isFenced = gone === transaction.from
    },
    send: async ({ signed }) =>
      void done.push(isFenced ? `sent: ${signed.map(({ raw }) => raw)}` : 'sent without a fence'),
    confirmations: 2,
    report: ({ event }) => void done.push(event),
  })
  for (let i = 0; i < rounds; i++) await endOrphans(account)
  return done
}

describe('a burn that a daemon signed which is gone', () => {
  const refused = reject('burn_failed')

  it('is sent again while it can still happen, also when it would fail now', async () => {
    expect(await round({ ok: true, value: { verdict: 'burnable' } as never }, deadline + 9)).toEqual([
      'sent: 0x09',
    ])
    expect(await round(refused, deadline)).toEqual(['sent: 0x09'])
  })

  it('is left to its daemon when that comes back', async () => {
    expect(await round({ ok: true, value: { verdict: 'burnable' } as never }, 0, 'back')).toEqual([])
  })

  it('is accepted once a block holds it', async () => {
    expect(await round({ ok: true, value: { verdict: 'burned' } as never }, 0)).toEqual([
      'sent: 0x09',
      'found: burned',
    ])
  })

  it('frees its challenge once no block can hold it any more', async () => {
    expect(await round(refused, deadline + 1)).toEqual(['sent: 0x09', 'released: burn_failed', 'burn.failed'])
  })

  it('is told to be lost, once, when a reorg took it and no block can hold it any more', async () => {
    expect(await round(refused, deadline + 1, 'gone', { isDemoted: true, rounds: 2 })).toEqual([
      'sent: 0x09',
      'burn.lost',
      'sent: 0x09',
    ])
  })
})
