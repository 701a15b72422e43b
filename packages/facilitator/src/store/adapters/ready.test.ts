import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { addressOf, challengeOf, nonceOf } from '../../../test/challenges.js'
import { temporaryFolder } from '../../../test/folder.js'
import { openTestLedger } from '../../../test/open-ledger.js'

const addressAt = (seed: number) => ({
  challengeNonce: nonceOf(seed),
  powNonce: seed,
  powBits: 8,
  payTo: addressOf(seed),
})

describe('ready addresses', () => {
  it('R-012 outlive a restart, and leave with their challenge: none is handed out twice', async () => {
    const journal = join(temporaryFolder(), 'journal')
    const first = await openTestLedger({ journal })
    for (const seed of [1, 2, 3]) await first.ready.add(addressAt(seed))
    await first.ledger.issue(challengeOf(2))
    await first.close()
    const second = await openTestLedger({ journal })
    expect(await second.ready.load()).toEqual([addressAt(1), addressAt(3)])
    // A challenge that is refused leaves its address where it is.
    await expect(second.ledger.issue(challengeOf(2))).rejects.toMatchObject({ code: 'nonce_reused' })
    await second.ready.drop([nonceOf(3)])
    expect(await second.ready.load()).toEqual([addressAt(1)])
    await second.close()
  })
})
