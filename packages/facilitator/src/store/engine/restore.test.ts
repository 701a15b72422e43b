import { copyFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { burnOf, challengeOf, permitPayloadOf, readyOf, selfTransferOf } from '../../../test/challenges.js'
import { temporaryFolder } from '../../../test/folder.js'
import { openTestStore } from '../../../test/store.js'
import { backUp } from '../backup.js'
import { keepMark } from '../journal/mark.js'
import { readyAddresses } from '../steps/operator-steps.js'

const [first, second, third] = [1, 2, 3].map((n) => challengeOf(n)) as [
  ReturnType<typeof challengeOf>,
  ReturnType<typeof challengeOf>,
  ReturnType<typeof challengeOf>,
]
const ready = readyOf(challengeOf(9))
const files = ['', '.db', '.db-wal', '.db-shm', '.mark']

/** A ledger with one open and one claimed challenge, and a ready address; and a backup of it. */
async function backedUp() {
  const path = join(temporaryFolder(), 'journal')
  const opened = await openTestStore({ path })
  const { ledger, store } = opened
  await ledger.issue(first)
  await ledger.issue(second)
  await ledger.claim(first.nonce, permitPayloadOf(first))
  await store.change('addReady', ready)
  const backup = `${path}.backup`
  const { events } = backUp(path, backup)
  expect(events).toBe(3)
  for (const file of [path, `${path}.db`, `${path}.db-wal`, backup])
    expect(statSync(file).mode & 0o077).toBe(0)
  return { path, backup, ...opened }
}

/** A copy of a ledger's files as they are now. */
function copied(path: string): string {
  const copy = join(temporaryFolder(), 'copy')
  for (const name of ['', '.db', '.db-wal']) copyFileSync(`${path}${name}`, `${copy}${name}`)
  return copy
}

function restore(path: string, backup: string): void {
  for (const name of files) rmSync(`${path}${name}`, { force: true })
  copyFileSync(backup, `${path}.db`)
}

describe('a backup that is restored', () => {
  it('has every payment and no ready address, and knows that it is a copy until it is accepted', async () => {
    const { path, backup, close } = await backedUp()
    await close()
    restore(path, backup)
    const again = await openTestStore({ path })
    expect(again.store.isCopy).toBe(true)
    expect(await again.ledger.find(first.nonce)).toMatchObject({ challenge: first, claim: {} })
    expect(await again.store.ask(readyAddresses())).toEqual([])
    await again.store.change('acceptCopy', 50)
    await again.close()
    const third = await openTestStore({ path })
    expect(third.store.isCopy).toBe(false)
    await third.close()
  })

  it('grants no burn of the time that it does not know, and grants what comes later', async () => {
    const { path, backup, ledger, close } = await backedUp()
    // Behind the backup the first payment was accepted and served.
    await ledger.accept(first.nonce, burnOf(1))
    await close()
    restore(path, backup)
    const again = await openTestStore({ path })
    await again.store.change('acceptCopy', 50)
    expect(await again.ledger.accept(first.nonce, burnOf(1))).toBe('not_claimed')
    expect(await again.ledger.takeGrant(first.nonce, 0)).toBe('not_accepted')
    expect(await again.books.find(first.nonce)).toMatchObject({ late: { reason: 'unrecorded' } })
    await again.ledger.claim(second.nonce, selfTransferOf(second, 7))
    expect(await again.ledger.accept(second.nonce, { ...burnOf(7), blockNumber: 51n })).toBe('accepted')
    await again.store.change('addReady', readyOf(third))
    await again.ledger.issue(third)
    await again.ledger.claim(third.nonce, selfTransferOf(third, 8))
    expect(await again.ledger.accept(third.nonce, { ...burnOf(8), blockNumber: 50n })).toBe('accepted')
    await again.close()
  })

  it('issues no address that was ready in it, also to a daemon that took one before it was accepted', async () => {
    const { path, ledger, store, close } = await backedUp()
    const copy = copied(path)
    await ledger.issue(challengeOf(9))
    const mark = { id: store.id, applied: 4 }
    await close()
    await keepMark(copy, () => mark).close()
    const again = await openTestStore({ path: copy, isCopyAccepted: true })
    expect([again.store.isCopy, await again.store.ask(readyAddresses())]).toEqual([true, [ready]])
    await again.store.change('acceptCopy', 50)
    await expect(again.ledger.issue(challengeOf(9))).rejects.toMatchObject({ code: 'nonce_reused' })
    await again.store.change('addReady', readyOf(third))
    expect(await again.ledger.issue(third)).toBe('issued')
    await again.close()
  })
})

it('a copy that was accepted has no ready address either when its database is made again from the journal', async () => {
  const { path, store, close } = await backedUp()
  const before = copied(path)
  await store.change('acceptCopy', 50)
  copyFileSync(path, before)
  await close()
  const again = await openTestStore({ path: before })
  expect(await again.store.ask(readyAddresses())).toEqual([])
  await again.close()
})

describe('files that are not the newest', () => {
  it('are noticed: an older journal, an older database behind a cut, both, and a missing one', async () => {
    const { path, store, ledger, close } = await backedUp()
    const older = copied(path)
    await ledger.claim(second.nonce, selfTransferOf(second, 7))
    const newer = copied(path)
    await close()
    const reopened = async (journal: string | undefined, database: string | undefined, hasMark = true) => {
      const mixed = join(temporaryFolder(), 'journal')
      if (journal !== undefined) copyFileSync(journal, mixed)
      for (const name of ['.db', '.db-wal'])
        if (database !== undefined) copyFileSync(`${database}${name}`, `${mixed}${name}`)
      if (hasMark) await keepMark(mixed, () => ({ id: store.id, applied: 4 })).close()
      const again = await openTestStore({ path: mixed })
      const { records } = again.store.figures()
      await again.close()
      return records
    }
    expect(await reopened(newer, newer)).toBe(4)
    // The newer journal has every line that the older database lacks.
    expect(await reopened(newer, older)).toBe(4)
    expect(await reopened(newer, undefined)).toBe(4)
    await expect(reopened(older, newer)).rejects.toThrow('is an old copy: it ends at event 3')
    await expect(reopened(older, older)).rejects.toThrow('there were 4')
    expect(await reopened(older, older, false)).toBe(3)
    await expect(reopened(undefined, newer)).rejects.toThrow('is empty or missing')
  })

  it('are gone on with when the operator says so', async () => {
    const { path, close } = await backedUp()
    await close()
    rmSync(path)
    const again = await openTestStore({ path, isCopyAccepted: true })
    expect([again.store.isCopy, (await again.ledger.find(first.nonce))?.challenge]).toEqual([true, first])
    await again.close()
  })
})

describe('a ledger whose journal was taken away', () => {
  it('is whole: the operator goes on with it, nothing of it is doubted, and it is granted what was accepted', async () => {
    const path = join(temporaryFolder(), 'journal')
    const losses: unknown[] = []
    const { ledger, store, close } = await openTestStore({ path, onFailure: (err) => losses.push(err) })
    await ledger.issue(first)
    await ledger.claim(first.nonce, permitPayloadOf(first))
    await ledger.accept(first.nonce, burnOf(1))
    await store.change('addReady', ready)
    rmSync(path)
    await expect(ledger.issue(second)).rejects.toMatchObject({ code: 'ledger_failed' })
    expect(losses).toMatchObject([{ code: 'journal_lost' }])
    // A power failure: the daemon never closed its files.
    const [left, older] = [1, 2].map(() => join(temporaryFolder(), 'left')) as [string, string]
    for (const to of [left, older])
      for (const name of ['.db', '.db-wal']) copyFileSync(`${path}${name}`, `${to}${name}`)
    await close()
    await expect(openTestStore({ path: left })).rejects.toThrow('is empty or missing')
    const again = await openTestStore({ path: left, isCopyAccepted: true })
    expect(again.store.isCopy).toBe(false)
    expect(await again.store.ask(readyAddresses())).toEqual([ready])
    expect(await again.ledger.takeGrant(first.nonce, 0)).toMatchObject({ accepted: { burn: burnOf(1) } })
    await again.close()
    // From then on it is a ledger as any other.
    await (await openTestStore({ path: left })).close()
    // A mark that is further knows that something happened since.
    await keepMark(older, () => ({ id: store.id, applied: 4 })).close()
    const doubted = await openTestStore({ path: older, isCopyAccepted: true })
    expect(doubted.store.isCopy).toBe(true)
    await doubted.close()
  })
})
