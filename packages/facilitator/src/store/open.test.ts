import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { addressOf, challengeOf, hashOf, seconds } from '../../test/challenges.js'
import { temporaryFolder } from '../../test/folder.js'
import { openTestLedger, testBinding } from '../../test/open-ledger.js'
import { stepSettings } from '../../test/store.js'
import { openInMemory } from './engine/open-database.js'
import { createRows } from './rows/rows.js'
import { type Query, type Step, sql } from './sql.js'
import { doubtSteps } from './steps/doubt.js'
import { readBinding } from './steps/operator-steps.js'
import { ledgerSteps } from './steps/steps.js'

describe('a ledger that is opened', () => {
  it('knows its accounts by the highest txNonce that they signed', async () => {
    const { ledger, bindAccount, knownAccount, close } = await openTestLedger()
    await bindAccount('relayer', { address: addressOf(3), txNonce: 4 })
    await ledger.recordSigned({ txNonce: 6, hash: hashOf(6), raw: '0x02', from: addressOf(3) }, [])
    expect(await knownAccount('relayer')).toMatchObject({ address: addressOf(3), txNonce: 6 })
    await close()
  })

  it('stays bound to what it was bound to while the disk is tried', async () => {
    const { store, tryDisk, close } = await openTestLedger()
    const binding = { ...testBinding, helper: addressOf(9) }
    await Promise.all([tryDisk(), store.change('bind', binding)])
    expect(await store.ask(readBinding())).toEqual(binding)
    await close()
  })

  it('has one daemon at a time', async () => {
    const journal = join(temporaryFolder(), 'journal')
    const { close } = await openTestLedger({ journal })
    await expect(openTestLedger({ journal })).rejects.toMatchObject({ code: 'ledger_locked' })
    await close()
  })

  it('looks at no payment that does not matter: each new challenge, and a copy that is accepted, has its index', () => {
    const { connection, close } = openInMemory()
    const rows = createRows()
    const context = {
      now: seconds(0),
      sharedNow: sql`0`,
      settings: { ...stepSettings, openOfSellers: new Map([['shop', 1]]) },
      rows,
      *record() {},
    }
    /** How SQLite answers the first query of a step that is about payments. */
    const searches = (step: Step<unknown>) => {
      let query = step.next().value as Query
      while (!query.text.includes('payment')) query = step.next([]).value as Query
      const plan = connection.query({ ...query, text: `EXPLAIN QUERY PLAN ${query.text}` })
      return plan.map(({ detail }) => detail).filter((detail) => detail.includes('payment'))
    }
    expect(searches(ledgerSteps.issue(context, challengeOf(1)))).toEqual([
      'SEARCH payment USING COVERING INDEX payment_unclaimed (stage=? AND expires_at>?)',
      'SEARCH payment USING COVERING INDEX payment_seller (stage=? AND seller=? AND expires_at>?)',
    ])
    expect(searches(doubtSteps.acceptCopy(context, 0))).toEqual([
      'SEARCH payment USING INDEX payment_unserved (stage=? AND granted=?)',
    ])
    close()
  })
})
