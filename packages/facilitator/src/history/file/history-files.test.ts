import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { addressOf, challengeOf, seconds } from '../../../test/challenges.js'
import { temporaryFolder } from '../../../test/folder.js'
import type { HistoryRecord } from '../record.js'
import { type HistoryFiles, type HistoryFilesDeps, openHistoryFiles } from './history-files.js'

const binding = { chainId: 31337, token: addressOf(0xa1) }
const recordOf = (seed: number): HistoryRecord => ({ event: 'challenged', challenge: challengeOf(seed) })
const newPath = () => join(temporaryFolder(), 'history.jsonl')

async function opened(path: string, changes: Partial<HistoryFilesDeps> = {}): Promise<HistoryFiles> {
  const files = await openHistoryFiles({ path, binding, fileBytesMax: 1 << 20, ...changes })
  onTestFinished(() => files.close().catch(() => undefined))
  return files
}

/** The numbers of the records behind one of them. */
async function seqsBehind(files: HistoryFiles, seq: number): Promise<number[]> {
  const seqs: number[] = []
  await files.readBehind(seq, async (part) => void seqs.push(...part.map((each) => each.seq)))
  return seqs
}

const linesOf = (path: string) => readFileSync(path, 'utf8').split('\n').slice(0, -1)

describe('the files of a history', () => {
  it('number every line through all files, and give back what they hold', async () => {
    const path = newPath()
    // One record fills a file.
    const first = await opened(path, { fileBytesMax: 400 })
    expect(await first.append([recordOf(1), recordOf(2)])).toBe(2)
    expect(await first.append([recordOf(3)])).toBe(5)
    expect(await first.append([recordOf(4)])).toBe(7)
    expect(first.lastSeq()).toBe(7)
    await first.close()
    expect(readdirSync(join(path, '..')).sort()).toEqual([
      'history.jsonl',
      'history.jsonl.000000000000001',
      'history.jsonl.000000000000004',
    ])
    expect(JSON.parse(linesOf(path)[0] ?? '')).toMatchObject({
      v: 1,
      seq: 6,
      event: 'history_bound',
      ...binding,
    })
    expect(statSync(path).mode & 0o777).toBe(0o600)
    const second = await opened(path)
    expect(second.lastSeq()).toBe(7)
    expect(await seqsBehind(second, 0)).toEqual([2, 3, 5, 7])
    expect(await seqsBehind(second, 3)).toEqual([5, 7])
    expect(await seqsBehind(second, 7)).toEqual([])
    expect(second.bytes()).toBe(
      readdirSync(join(path, '..'))
        .filter((name) => /\d$|l$/.test(name))
        .reduce((sum, name) => sum + statSync(join(path, '..', name)).size, 0),
    )
  })

  it('drop a torn last line of the newest file, and go on behind the whole ones', async () => {
    const path = newPath()
    const first = await opened(path)
    await first.append([recordOf(1), recordOf(2)])
    await first.close()
    truncateSync(path, statSync(path).size - 10)
    const second = await opened(path)
    expect(second.tornBytes).toBeGreaterThan(0)
    expect(statSync(path).size).toBe(second.bytes())
    expect(await seqsBehind(second, 0)).toEqual([2])
    expect(await second.append([recordOf(2)])).toBe(3)
    await second.close()
    expect(await seqsBehind(await opened(path), 0)).toEqual([2, 3])
  })

  it('a kill at the birth of a file leaves an empty or torn beginning, which is written again', async () => {
    for (const begun of ['', '{"v":1,"seq":1,"event":"history_bo']) {
      const path = newPath()
      writeFileSync(path, begun)
      const files = await opened(path)
      expect(await files.append([recordOf(1)])).toBe(2)
      await files.close()
      expect(await seqsBehind(await opened(path), 0)).toEqual([2])
    }
  })

  it('a kill between the rename of a full file and the next one loses nothing', async () => {
    const path = newPath()
    const first = await opened(path)
    await first.append([recordOf(1)])
    await first.close()
    renameSync(path, `${path}.000000000000001`)
    const second = await opened(path)
    expect(second.lastSeq()).toBe(2)
    expect(await second.append([recordOf(2)])).toBe(4)
    expect(await seqsBehind(second, 0)).toEqual([2, 4])
  })

  it('stop the start with file and line when anything else is damaged', async () => {
    const path = newPath()
    const files = await opened(path, { fileBytesMax: 400 })
    for (const seed of [1, 2, 3]) await files.append([recordOf(seed), recordOf(seed + 10)])
    await files.close()
    const full = `${path}.000000000000001`
    const whole = { newest: readFileSync(path), full: readFileSync(full) }
    const open = () => openHistoryFiles({ path, binding, fileBytesMax: 400 })

    writeFileSync(path, whole.newest.toString().replace('"amount":"1000"', '"amount":"1001"'))
    await expect(open()).rejects.toMatchObject({
      code: 'journal_corrupt',
      message: expect.stringMatching(
        /^PAYMENT_HISTORY_PATH: .*history\.jsonl: line 2 is damaged: its checksum/,
      ),
    })
    writeFileSync(path, whole.newest)
    truncateSync(full, whole.full.length - 5)
    await expect(open()).rejects.toMatchObject({
      message: expect.stringContaining('its last line is damaged'),
    })
    rmSync(full)
    await expect(open()).rejects.toMatchObject({ message: expect.stringContaining('A file is missing') })
    // The same where no full file is left, and where the newest one is from another time.
    rmSync(`${path}.000000000000004`)
    await expect(open()).rejects.toMatchObject({
      message: expect.stringMatching(
        /history\.jsonl: it begins with record 7, 1 was due\. A file is missing\. Put back/,
      ),
    })
    writeFileSync(full, whole.full)
    writeFileSync(path, whole.full)
    await expect(open()).rejects.toMatchObject({
      message: expect.stringMatching(
        /history\.jsonl: it begins with record 1, 4 was due\. It is a copy from another/,
      ),
    })
    rmSync(path)
    writeFileSync(full, whole.full.toString().replace('"amount":"1000"', '"amount":"1001"'))
    const damaged = await opened(path)
    await expect(seqsBehind(damaged, 0)).rejects.toThrow(/000000000000001: line 2 is damaged/)
  })

  it('belong to one token', async () => {
    const path = newPath()
    const files = await opened(path)
    await files.append([recordOf(1)])
    await files.close()
    await expect(
      openHistoryFiles({ path, binding: { ...binding, chainId: 1 }, fileBytesMax: 400 }),
    ).rejects.toThrow(/history of its own/)
  })

  it('have one daemon', async () => {
    const path = newPath()
    await opened(path)
    await expect(openHistoryFiles({ path, binding, fileBytesMax: 400 })).rejects.toMatchObject({
      code: 'journal_locked',
      message: expect.stringMatching(/^PAYMENT_HISTORY_PATH: .* in use by another daemon/),
    })
  })

  it('take no record once their file is gone, replaced or shortened', async () => {
    for (const harm of [
      (path: string) => rmSync(path),
      (path: string) => {
        renameSync(path, `${path}.moved`)
        writeFileSync(path, '')
      },
      (path: string) => truncateSync(path, 5),
    ]) {
      const path = newPath()
      const files = await opened(path)
      await files.append([recordOf(1)])
      harm(path)
      await expect(files.append([recordOf(2)])).rejects.toMatchObject({ code: 'journal_lost' })
    }
  })

  it('a rotation that was refused half way is finished by the next append', async () => {
    const path = newPath()
    const full = `${path}.000000000000001`
    const files = await opened(path, { fileBytesMax: 400 })
    await files.append([recordOf(1)])
    // A folder in the way of the name that the full file should get.
    mkdirSync(join(full, 'in-the-way'), { recursive: true })
    await expect(files.append([recordOf(2)])).rejects.toThrow()
    expect(files.lastSeq()).toBe(2)
    rmSync(full, { recursive: true })
    expect(await files.append([recordOf(2)])).toBe(4)
    expect(await seqsBehind(files, 0)).toEqual([2, 4])
  })

  it('refuse a record that could not be read back', async () => {
    const files = await opened(newPath())
    const bad = { event: 'demoted', nonce: '0x12', at: seconds(1) } as unknown as HistoryRecord
    await expect(files.append([bad])).rejects.toThrow(/no challenge nonce/)
    expect(await files.append([recordOf(1)])).toBe(2)
  })
})
