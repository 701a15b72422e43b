import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { challengeOf } from '../../../test/challenges.js'
import { temporaryFolder } from '../../../test/folder.js'
import { builtModule, runScript } from '../../../test/node-script.js'
import { openTestLedger } from '../../../test/open-ledger.js'
import { assertUnlocked, lockJournal } from './lock.js'

const newPath = () => join(temporaryFolder(), 'journal.jsonl')

/** Another process that locks the journal and keeps it. */
async function lockElsewhere(path: string) {
  const script = runScript(`
    import { lockJournal } from ${builtModule('store/journal/lock')}
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
      import { lockJournal } from ${builtModule('store/journal/lock')}
      await lockJournal(${JSON.stringify(path)})`)
    expect((await third.ended).stderr).toContain('journal_locked')
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

  it('a lock file of a namespace without a name is believed while it is touched, if a daemon wrote it', async () => {
    const path = newPath()
    writeFileSync(`${path}.lock`, '7\n\n0123456789abcdef\n')
    await expect(lockJournal(path)).rejects.toMatchObject({ code: 'journal_locked' })
    const aWhileAgo = new Date(Date.now() - 60_000)
    utimesSync(`${path}.lock`, aWhileAgo, aWhileAgo)
    await (await lockJournal(path)).release()
  })

  it.runIf(process.platform === 'linux')('one folder seen at two paths is one lock', async () => {
    const folder = temporaryFolder()
    const [here, there] = [join(folder, 'here'), join(folder, 'there')]
    mkdirSync(here)
    const lock = await lockJournal(join(here, 'journal.jsonl'))
    // The same folder under another name, as a second mount would show it.
    renameSync(here, there)
    await expect(lockJournal(join(there, 'journal.jsonl'))).rejects.toMatchObject({ code: 'journal_locked' })
    await lock.release()
  })

  it('who finds the lock file of another lets go of the journal, and leaves that file alone', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => {
      vi.useRealTimers()
    })
    const path = newPath()
    const failures: unknown[] = []
    const { ledger, close } = await openTestLedger({ journal: path, onFailure: (err) => failures.push(err) })
    await ledger.issue(challengeOf(1))
    vi.advanceTimersByTime(60_000)
    expect(failures).toEqual([])
    const before = readFileSync(path, 'utf8')
    const foreign = '7\nanother-boot net:[1]\n0123456789abcdef\n'
    writeFileSync(`${path}.lock`, foreign)
    vi.advanceTimersByTime(60_000)
    expect(failures).toMatchObject([{ code: 'journal_locked' }])
    // The other one goes on in the file: not even our own remainder may be cut off.
    appendFileSync(path, 'of the other')
    for (const seed of [2, 3]) {
      const refused = { code: 'journal_failed', cause: { code: 'journal_locked' } }
      await expect(ledger.issue(challengeOf(seed))).rejects.toMatchObject(refused)
    }
    await close()
    expect(readFileSync(path, 'utf8')).toBe(`${before}of the other`)
    expect(readFileSync(`${path}.lock`, 'utf8')).toBe(foreign)
  })
})
