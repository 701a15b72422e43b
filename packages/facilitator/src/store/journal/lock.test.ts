import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
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

/** The words of another process that wants the lock. */
async function triedElsewhere(path: string): Promise<string> {
  const script = runScript(`
    import { lockJournal } from ${builtModule('store/journal/lock')}
    await lockJournal(${JSON.stringify(path)})`)
  return (await script.ended).stderr
}

describe('fault 6 two daemons on one journal', () => {
  it('the second is refused while the first lives, and told who has it', async () => {
    const path = newPath()
    const { pid } = await lockElsewhere(path)
    await expect(lockJournal(path)).rejects.toMatchObject({
      code: 'ledger_locked',
      message: `settlement.journal: ${path} is in use by another daemon (process ${pid})`,
    })
    expect(await triedElsewhere(path)).toContain('ledger_locked')
  })

  it('a killed daemon holds nothing: its lock is taken over at once', async () => {
    const path = newPath()
    const first = await lockElsewhere(path)
    first.kill()
    await first.ended
    const lock = await lockJournal(path)
    await expect(lockJournal(path)).rejects.toMatchObject({
      message: expect.stringContaining(`(process ${process.pid})`),
      holder: process.pid,
    })
    await lock.release()
  })

  it("an empty lock file is nobody's, and one that is none is not believed: the start is refused with words", async () => {
    const path = newPath()
    writeFileSync(`${path}.lock`, '')
    await (await lockJournal(path)).release()
    writeFileSync(`${path}.lock`, 'rubbish')
    await expect(lockJournal(path)).rejects.toMatchObject({
      code: 'ledger_unusable',
      message: `settlement.journal: ${path}.lock: file is not a database; remove it if no daemon runs`,
    })
  })

  it('a copy of the folder is another journal, which nobody has', async () => {
    const path = newPath()
    const lock = await lockJournal(path)
    const copy = newPath()
    // By another process: one that closes a file lets go of its locks on it.
    execFileSync('cp', [`${path}.lock`, `${copy}.lock`])
    await (await lockJournal(copy)).release()
    await lock.release()
  })

  it('one process cannot lock it twice either, and may again after letting go', async () => {
    const path = newPath()
    const first = await lockJournal(path)
    await expect(lockJournal(path)).rejects.toMatchObject({ code: 'ledger_locked' })
    await expect(assertUnlocked(path)).rejects.toMatchObject({ code: 'ledger_locked' })
    // The files that this process closed meanwhile have not let go of the lock.
    expect(await triedElsewhere(path)).toContain('ledger_locked')
    await first.release()
    await assertUnlocked(path)
    const second = await lockJournal(path)
    await second.release()
  })

  it('another journal in the same folder is another lock', async () => {
    const folder = temporaryFolder()
    const locks = await Promise.all(['a', 'b'].map((name) => lockJournal(join(folder, name))))
    for (const lock of locks) await lock.release()
  })

  it('one folder seen at two paths is one lock', async () => {
    const folder = temporaryFolder()
    const [here, there] = [join(folder, 'here'), join(folder, 'there')]
    mkdirSync(here)
    const lock = await lockJournal(join(here, 'journal.jsonl'))
    // The same folder under another name, as a second mount would show it.
    renameSync(here, there)
    await expect(lockJournal(join(there, 'journal.jsonl'))).rejects.toMatchObject({ code: 'ledger_locked' })
    await lock.release()
  })

  it.each(['removed', 'replaced'])('who finds its lock file %s writes nothing more', async (how) => {
    const path = newPath()
    const failures: unknown[] = []
    const { ledger, close } = await openTestLedger({ journal: path, onFailure: (err) => failures.push(err) })
    await ledger.issue(challengeOf(1))
    expect(failures).toEqual([])
    const before = readFileSync(path, 'utf8')
    renameSync(`${path}.lock`, `${path}.taken`)
    if (how === 'replaced') await lockElsewhere(path)
    // The other one goes on in the file: not even our own remainder may be cut off.
    appendFileSync(path, 'of the other')
    for (const seed of [2, 3]) {
      const refused = { code: 'ledger_failed', cause: { code: 'ledger_locked' } }
      await expect(ledger.issue(challengeOf(seed))).rejects.toMatchObject(refused)
    }
    expect(failures).toMatchObject([{ code: 'ledger_locked' }])
    await close()
    expect(readFileSync(path, 'utf8')).toBe(`${before}of the other`)
  })

  it('who writes nothing notices it, too', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => {
      vi.useRealTimers()
    })
    const path = newPath()
    const losses: unknown[] = []
    const lock = await lockJournal(path, (error) => losses.push(error))
    vi.advanceTimersByTime(60_000)
    expect(losses).toEqual([])
    rmSync(`${path}.lock`)
    vi.advanceTimersByTime(60_000)
    expect(losses).toMatchObject([{ code: 'ledger_locked' }])
    await lock.release()
  })
})
