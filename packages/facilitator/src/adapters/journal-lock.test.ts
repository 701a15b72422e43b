import { existsSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { temporaryFolder } from '../../test/folder.js'
import { builtAdapter, runScript } from '../../test/node-script.js'
import { assertUnlocked, lockJournal } from './journal-lock.js'

const newPath = () => join(temporaryFolder(), 'journal.jsonl')

/** Another process that locks the journal and keeps it. */
async function lockElsewhere(path: string) {
  const script = runScript(`
    import { lockJournal } from ${builtAdapter('journal-lock')}
    await lockJournal(${JSON.stringify(path)})
    console.log('locked')
    setInterval(() => undefined, 1000)`)
  onTestFinished(() => {
    script.kill()
  })
  await script.said()
  return script
}

describe('fault 6 two daemons on one journal', () => {
  it('the second is refused while the first lives, and told who has it', async () => {
    const path = newPath()
    const { pid } = await lockElsewhere(path)
    await expect(lockJournal(path)).rejects.toMatchObject({
      code: 'journal_locked',
      message: `settlement.journal: ${path} is in use by another daemon (process ${pid})`,
    })
    const third = runScript(`
      import { lockJournal } from ${builtAdapter('journal-lock')}
      await lockJournal(${JSON.stringify(path)})`)
    expect((await third.ended).errors).toContain('journal_locked')
  })

  it('a killed daemon holds nothing: its lock is taken over at once, lock file or not', async () => {
    const path = newPath()
    const first = await lockElsewhere(path)
    first.kill()
    await first.ended
    expect(readFileSync(`${path}.lock`, 'utf8')).toMatch(new RegExp(`^${first.pid}\n`))
    const lock = await lockJournal(path)
    expect(readFileSync(`${path}.lock`, 'utf8')).toMatch(new RegExp(`^${process.pid}\n`))
    await lock.release()
    expect(existsSync(`${path}.lock`)).toBe(false)
  })

  it('a stale lock file is not believed, whatever it says', async () => {
    const path = newPath()
    for (const stale of ['', 'rubbish', '-1', '4194304999', `${process.ppid}`]) {
      writeFileSync(`${path}.lock`, stale)
      // The kernel knows the holder on Linux; elsewhere a process number that lives is all there is.
      if (process.platform !== 'linux' && stale === `${process.ppid}`) continue
      const lock = await lockJournal(path)
      await lock.release()
    }
  })

  it('one process cannot lock it twice either, and may again after letting go', async () => {
    const path = newPath()
    const first = await lockJournal(path)
    await expect(lockJournal(path)).rejects.toMatchObject({ code: 'journal_locked' })
    await first.release()
    const second = await lockJournal(path)
    await second.release()
  })

  it('another journal in the same folder is another lock', async () => {
    const folder = temporaryFolder()
    const locks = await Promise.all(['a', 'b'].map((name) => lockJournal(join(folder, name))))
    for (const lock of locks) await lock.release()
  })

  // Two containers on one volume do not see each other's kernel lock; the lock file is all they share.
  it('a lock file of another namespace is believed while it is touched, and no longer', async () => {
    const path = newPath()
    writeFileSync(`${path}.lock`, '7\nanother-boot net:[1]\n')
    await expect(lockJournal(path)).rejects.toMatchObject({ code: 'journal_locked' })
    await expect(assertUnlocked(path)).rejects.toMatchObject({ code: 'journal_locked' })
    const aWhileAgo = new Date(Date.now() - 60_000)
    utimesSync(`${path}.lock`, aWhileAgo, aWhileAgo)
    await (await lockJournal(path)).release()
  })
})
