import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { burnOf, challengeOf, permitPayloadOf } from '../../../test/challenges.js'
import { temporaryFolder } from '../../../test/folder.js'
import { openTestStore } from '../../../test/store.js'

describe('a closed store', () => {
  it.each(['in memory', 'beside a journal'])('%s refuses steps, and may be closed again', async (where) => {
    const path = join(temporaryFolder(), 'journal')
    const { ledger, close } = await openTestStore(where === 'in memory' ? {} : { isThreaded: true, path })
    const issued = ledger.issue(challengeOf(1))
    const closed = close()
    await expect(ledger.issue(challengeOf(2))).rejects.toMatchObject({ code: 'ledger_failed' })
    expect(await issued).toBe('issued')
    await closed
    await close()
    await expect(ledger.issue(challengeOf(3))).rejects.toMatchObject({ code: 'ledger_failed' })
  })
})

describe('the store in a thread of its own', () => {
  it('answers what was asked, in order, and has it all after a restart', async () => {
    const path = join(temporaryFolder(), 'journal')
    const { ledger, close } = await openTestStore({ isThreaded: true, path })
    const challenges = Array.from({ length: 50 }, (_, i) => challengeOf(i + 1))
    const issued = challenges.map((challenge) => ledger.issue(challenge))
    const claimed = challenges.map((challenge, i) =>
      ledger.claim(challenge.nonce, permitPayloadOf(challenge, { nonce: BigInt(i) })),
    )
    expect(new Set(await Promise.all(issued))).toEqual(new Set(['issued']))
    expect(new Set(await Promise.all(claimed))).toEqual(new Set(['claimed']))
    await ledger.accept(challengeOf(1).nonce, burnOf(1))
    expect(await ledger.find(challengeOf(1).nonce)).toMatchObject({ accepted: { burn: burnOf(1) } })
    await expect(ledger.moveBurn(challengeOf(2).nonce, burnOf(2))).rejects.toThrow('no burn of')
    await close()
    const again = await openTestStore({ isThreaded: true, path })
    expect(await again.ledger.find(challengeOf(50).nonce)).toMatchObject({ claim: {} })
    expect(again.store.figures()).toMatchObject({ records: 101, failed: false })
    await again.close()
  })

  it('refuses with words, as the engine does', async () => {
    const path = join(temporaryFolder(), 'journal')
    await (await openTestStore({ isThreaded: true, path })).close()
    const once = await openTestStore({ isThreaded: true, path })
    await once.ledger.issue(challengeOf(1))
    await once.close()
    rmSync(path)
    await expect(openTestStore({ isThreaded: true, path })).rejects.toMatchObject({ code: 'ledger_old' })
  })

  it('accepts nothing once the journal is gone from its place, and says so', async () => {
    const path = join(temporaryFolder(), 'journal')
    const failures: unknown[] = []
    const { ledger, close } = await openTestStore({
      isThreaded: true,
      path,
      onFailure: (err) => failures.push(err),
    })
    await ledger.issue(challengeOf(1))
    rmSync(path)
    await expect(ledger.issue(challengeOf(2))).rejects.toMatchObject({ code: 'ledger_failed' })
    expect(failures).toMatchObject([{ code: 'journal_lost' }])
    expect(await ledger.find(challengeOf(2).nonce)).toBeUndefined()
    expect(await ledger.find(challengeOf(1).nonce)).toMatchObject({ challenge: challengeOf(1) })
    await close()
  })
})
