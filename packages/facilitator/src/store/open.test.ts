import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { stoppedClock } from '../../../../test/support/clocks.js'
import { addressOf, challengeOf, permitPayloadOf } from '../../test/challenges.js'
import { temporaryFolder } from '../../test/folder.js'
import { type OpenLedgerDeps, openLedger } from './open.js'

const binding = { chainId: 31337, token: addressOf(7), helper: addressOf(8), seed: 'ab' }

const open = (changes: Partial<OpenLedgerDeps> = {}) =>
  openLedger({
    ...{ journal: 'none', binding, clock: stoppedClock(), openMax: 10, expiredRetentionSeconds: 3600 },
    unmatchedMax: { perChallenge: 1, total: 10 },
    keepSigned: { blocks: 12 },
    limits: { journalBytesMax: 1 << 23, storageWaitMs: 5_000 },
    onFailure: (err) => {
      throw err
    },
    ...changes,
  })

describe('a ledger that is opened', () => {
  it('belongs to its chain, token and key, and to its helper while burns are under way', async () => {
    const journal = join(temporaryFolder(), 'journal')
    const { ledger, bindAccount, knownAccount, tryDisk, close } = await open({ journal })
    await ledger.issue(challengeOf(1))
    await ledger.claim(challengeOf(1).nonce, permitPayloadOf(challengeOf(1)))
    await bindAccount('relayer', { address: addressOf(3), txNonce: 4 })
    const signed = { txNonce: 6, hash: `0x${'1'.repeat(64)}` as never, raw: '0x02' } as const
    await ledger.recordSigned(signed, [challengeOf(1).nonce])
    expect(await knownAccount('relayer')).toEqual({ address: addressOf(3), txNonce: 6 })
    await tryDisk()
    await close()
    const others = [
      [{ token: addressOf(9) }, 'it belongs to token'],
      [{ seed: 'cd' }, 'is not the key'],
      [{ helper: addressOf(9) }, 'are under way'],
    ] as const
    for (const [change, message] of others) {
      await expect(open({ journal, binding: { ...binding, ...change } })).rejects.toThrow(message)
    }
    await (await open({ journal })).close()
  })

  it('has one daemon at a time', async () => {
    const journal = join(temporaryFolder(), 'journal')
    const { close } = await open({ journal })
    await expect(open({ journal })).rejects.toMatchObject({ code: 'journal_locked' })
    await close()
  })

  it('keeps the shares of callers in open challenges', async () => {
    const shares = {
      capacity: 10,
      reservedPercent: new Map([['seller', 50]]),
      promised: new Map([['seller', 5]]),
      promisedTo: () => 1,
    }
    const { ledger, close } = await open({ openShares: shares })
    const outcomes: string[] = []
    for (let n = 1; n <= 8; n++) outcomes.push(await ledger.issue(challengeOf(n), 'stranger'))
    expect(outcomes).toContain('limit')
    expect(await ledger.isFull('stranger')).toBe(true)
    expect(await ledger.isFull('seller')).toBe(false)
    for (let n = 11; n <= 15; n++) expect(await ledger.issue(challengeOf(n), 'seller')).toBe('issued')
    await close()
  })
})
