import { type Address, reject } from '@svc-zerc20/protocol'
import { describe, expect, it } from 'vitest'
import { addressOf, challengeOf, hashOf, permitPayloadOf } from '../../../test/challenges.js'
import type { Ledger } from '../ledger-port.js'
import type { Examine } from './examine.js'
import { createOrphans } from './orphans.js'

const challenge = challengeOf(1)
const transaction = { txNonce: 0, hash: hashOf(9), raw: '0x09', from: addressOf(0xb1) } as const
const account: Address = addressOf(0xb2)

/** One signed burn of a daemon that is gone, on a chain that sees it so; and what happens. */
async function round(
  seen: Awaited<ReturnType<Examine['permit']>>,
  { orphan = 'gone' as 'gone' | 'back', isLost = false, isDemoted = false, rounds = 1 } = {},
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
    examine: {
      permit: async () => seen,
      isLost: async (_, rejection) => isLost && rejection === seen,
    },
    fence: async (gone) => {
      isFenced = gone === transaction.from
    },
    send: async ({ signed }) =>
      void done.push(isFenced ? `sent: ${signed.map(({ raw }) => raw)}` : 'sent without a fence'),
    report: ({ event }) => void done.push(event),
  })
  for (let i = 0; i < rounds; i++) await endOrphans(account)
  return done
}

describe('a burn that a daemon signed which is gone', () => {
  const burnable = { ok: true, value: { verdict: 'burnable' } as never } as const
  const refused = reject('deadline_passed')

  it('is sent again while it can still happen, also when it would fail now', async () => {
    expect(await round(burnable)).toEqual(['sent: 0x09'])
    expect(await round(refused)).toEqual(['sent: 0x09'])
  })

  it('is left to its daemon when that comes back', async () => {
    expect(await round(burnable, { orphan: 'back' })).toEqual([])
  })

  it('is accepted once a block holds it', async () => {
    expect(await round({ ok: true, value: { verdict: 'burned' } as never })).toEqual([
      'sent: 0x09',
      'found: burned',
    ])
  })

  it('frees its challenge once no block can hold it any more', async () => {
    expect(await round(refused, { isLost: true })).toEqual([
      'sent: 0x09',
      'released: deadline_passed',
      'burn.failed',
    ])
  })

  it('is told to be lost, once, when a reorg took it and no block can hold it any more', async () => {
    expect(await round(refused, { isLost: true, isDemoted: true, rounds: 2 })).toEqual([
      'sent: 0x09',
      'burn.lost',
      'sent: 0x09',
    ])
  })
})
