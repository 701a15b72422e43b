import type { Address, ChallengeNonce } from '@svc-zerc20/protocol'
import { describe, expect, it } from 'vitest'
import { stoppedClock } from '../../../../../test/support/clocks.js'
import {
  addressOf,
  burnOf,
  challengeOf,
  deployment,
  epochOfSecond,
  nonceOf,
  seconds,
} from '../../../test/challenges.js'
import { temporaryFiles } from '../../../test/files.js'
import { createMemoryLedger } from '../../../test/ledger.js'
import type { Burn } from '../../payment/records.js'
import type { ExecutedBurn } from './burn-search.js'
import { type FindBurnsDeps, findBurns, loggedNonces } from './find-burns.js'

const files = temporaryFiles()

/** A fake chain with transfers and permit burner events, and a real ledger. */
function setup(changes: Partial<FindBurnsDeps> = {}) {
  const clock = stoppedClock()
  const ledger = createMemoryLedger({ clock, openMax: 100, expiredRetentionSeconds: 3600 })
  const transfers = new Map<Address, Burn>()
  const executed: ExecutedBurn[] = []
  const minted = new Set<ChallengeNonce>()
  const derived: ChallengeNonce[] = []
  const relayer = addressOf(77)
  const sent = new Set<string>()
  const deps: FindBurnsDeps = {
    ledger,
    search: {
      largestTransfer: async (address) => transfers.get(address),
      executedBurns: async () => executed,
      senders: async (hashes) => hashes.map((hash) => (sent.has(hash) ? relayer : undefined)),
    },
    reread: async (_challenge, burn) => ({ burn: { ...burn, leafIndex: 7n }, depth: 1 }),
    // As in `challengeOf`: address and nonce share a number.
    async derive(nonce) {
      derived.push(nonce)
      return { payTo: addressOf(Number(BigInt(nonce))), powNonce: 11 }
    },
    otherPowBits: [],
    relayer,
    epochsBefore: () => [],
    areMinted: async (burns) => burns.map(({ nonce }) => minted.has(nonce)),
    treasury: deployment.treasury,
    // The block number is also its timestamp.
    minedAt: async (blockNumber) => seconds(Number(blockNumber)),
    clock,
    report: () => undefined,
    derivedAtOnceMax: 2,
    say: () => undefined,
    ...changes,
  }
  const executedBy = (seed: number, payTo = addressOf(seed)): ExecutedBurn => {
    const { leafIndex: _, ...burn } = burnOf(seed)
    return { ...burn, nonce: nonceOf(seed), payTo }
  }
  const find = async (...nonces: ChallengeNonce[]) => {
    const found = await findBurns(deps, nonces)
    return found.map(({ nonce, source, isRecorded }) => [nonce, source, ...(isRecorded ? [] : ['underived'])])
  }
  return { ledger, transfers, executed, sent, minted, derived, executedBy, find }
}

describe('burns that the ledger does not know', () => {
  it('of an epoch are found by the epochs of their time, when their records are lost', async () => {
    const tried: (number | undefined)[] = []
    const epochs = (...starts: number[]) => starts.map((start) => epochOfSecond(start))
    const { ledger, find, executed, executedBy, transfers } = setup({
      epochsBefore: (at) => epochs(at + 120, at + 60, at),
      async derive(nonce, epoch) {
        tried.push(epoch?.start)
        const isOwn = epoch?.start === 61 || epoch?.start === 1_700_000_060
        return { payTo: addressOf(isOwn ? Number(BigInt(nonce)) : 99), powNonce: 11, ...(epoch && { epoch }) }
      },
    })
    executed.push(executedBy(1))
    expect(await find()).toEqual([[nonceOf(1), 'helper']])
    // The block of the burn is block 1, mined in second 1.
    expect(tried).toEqual([undefined, 121, 61])
    expect((await ledger.books.find(nonceOf(1)))?.challenge.epoch).toEqual(epochOfSecond(61))
    transfers.set(addressOf(5), burnOf(5))
    expect(await find(nonceOf(5))).toEqual([[nonceOf(5), 'nonce']])
  })

  it('are burns of the helper that no record is left of, when their address derives from our seed', async () => {
    const { ledger, find, executed, executedBy, minted, derived } = setup()
    await ledger.issue(challengeOf(1))
    minted.add(nonceOf(2))
    executed.push(executedBy(1), executedBy(2), executedBy(3), executedBy(4, addressOf(99)), executedBy(5))
    expect(await find()).toEqual([
      [nonceOf(3), 'helper'],
      [nonceOf(5), 'helper'],
    ])
    // Known burns and minted burns need no proof of work.
    expect(derived).toEqual([3, 4, 5].map(nonceOf))
    const recorded = await ledger.books.find(nonceOf(3))
    expect(recorded).toMatchObject({
      challenge: { payTo: addressOf(3), powNonce: 11, treasury: deployment.treasury, amount: 1000n },
      // The permit burner executes nothing past its deadline, so this burn cannot have been late.
      late: { burn: { ...burnOf(3), leafIndex: 7n }, reason: 'unrecorded' },
    })
    expect(await ledger.books.find(nonceOf(4))).toBeUndefined()
    expect(await find()).toEqual([])
  })

  it('are found with the proof of work of their day, when it was another then', async () => {
    const tried: (number | undefined)[] = []
    const { find, executed, executedBy, sent, transfers } = setup({
      otherPowBits: [9, 7],
      async derive(nonce, _, powBits) {
        tried.push(powBits)
        return { payTo: addressOf(powBits === 7 ? Number(BigInt(nonce)) : 99), powNonce: 11 }
      },
    })
    // Two facilitators share the helper. Only for a burn that our relayer sent is more work spent.
    executed.push(executedBy(1), executedBy(2))
    sent.add(burnOf(2).txHash)
    expect(await find()).toEqual([[nonceOf(2), 'helper']])
    expect(tried).toEqual([undefined, undefined, 9, 7])
    transfers.set(addressOf(5), burnOf(5))
    expect(await find(nonceOf(5))).toContainEqual([nonceOf(5), 'nonce'])
  })

  it('are never called somebody else’s when our own relayer sent them, although they derive from nothing here', async () => {
    const { find, executed, executedBy, sent, ledger } = setup()
    executed.push(executedBy(1, addressOf(98)), executedBy(2, addressOf(99)))
    sent.add(burnOf(2).txHash)
    expect(await find()).toEqual([[nonceOf(2), 'helper', 'underived']])
    expect(await ledger.books.find(nonceOf(2))).toBeUndefined()
  })

  it('are transfers to the addresses of nonces that somebody names', async () => {
    const { find, transfers, minted, ledger } = setup()
    for (const seed of [1, 2]) transfers.set(addressOf(seed), burnOf(seed))
    minted.add(nonceOf(2))
    expect(await find(nonceOf(1), nonceOf(2), nonceOf(3))).toEqual([[nonceOf(1), 'nonce']])
    expect((await ledger.books.find(nonceOf(1)))?.late?.burn).toEqual(burnOf(1))
  })
})

it('the nonces of a log are found once each, in JSON and in other lines, and other hashes are none', async () => {
  const [first, second, third] = [nonceOf(1), nonceOf(2), nonceOf(3)]
  const hash = `0x${'ab'.repeat(32)}`
  const file = files.write(
    'daemon.log',
    [
      JSON.stringify({ event: 'challenge.issued', challengeNonce: first, amount: '1' }),
      JSON.stringify({ event: 'payment.accepted', challengeNonce: first, txHash: hash }),
      `2026-01-01 sold nonce=${second} tx=${hash}`,
      `{"offer":{"extra":{"challengeNonce": "${third}"}}}`,
      '{"nonce":"0x12"} and no more',
    ].join('\n'),
  )
  expect(await loggedNonces(file)).toEqual([first, second, third])
  await expect(loggedNonces(`${file}.missing`)).rejects.toThrow('ENOENT')
})
