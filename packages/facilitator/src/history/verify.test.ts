import { readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ClassicLevel } from 'classic-level'
import { describe, expect, it } from 'vitest'
import { addressOf, burnOf, challengeOf, nonceOf, seconds } from '../../test/challenges.js'
import { temporaryFolder } from '../../test/folder.js'
import { openComparedIndex } from './compare-index.js'
import { openHistoryFiles } from './file/history-files.js'
import { followFiles } from './index/follow-files.js'
import { indexFolderOf, openHistoryIndex } from './index/history-index.js'
import type { HistoryRecord } from './record.js'
import { verifyHistory } from './verify.js'

const binding = { chainId: 31337, token: addressOf(0xa1) }
const challenged = (seed: number): HistoryRecord => ({ event: 'challenged', challenge: challengeOf(seed) })
const accepted = (seed: number): HistoryRecord => ({
  event: 'accepted',
  nonce: nonceOf(seed),
  burn: burnOf(seed),
  at: seconds(7),
})

/** Five files: four full ones with two records each, and the newest. */
async function history(
  records: (seed: number) => HistoryRecord[] = (seed) => [challenged(seed), accepted(seed)],
  of = binding,
) {
  const path = join(temporaryFolder(), 'history.jsonl')
  const files = await openHistoryFiles({ path, binding: of, fileBytesMax: 400 })
  for (const seed of [1, 2, 3, 4, 5]) await files.append(records(seed))
  await files.close()
  const full = readdirSync(join(path, '..'))
    .filter((name) => /\d$/.test(name))
    .sort()
    .map((name) => join(path, '..', name))
  return { path, full }
}

const verify = (path: string, changes: Partial<Parameters<typeof verifyHistory>[0]> = {}) =>
  verifyHistory({ path, onProgress: () => undefined, ...changes })

const damage = (path: string) =>
  writeFileSync(path, readFileSync(path, 'utf8').replace('"amount":"1000"', '"amount":"1001"'))

describe('a history that is verified', () => {
  it('is looked for in its index, which may lack the newest records and no other', async () => {
    const { path, full } = await history()
    await expect(openComparedIndex(path)).rejects.toMatchObject({ code: 'history_unusable' })
    const files = await openHistoryFiles({ path, binding, fileBytesMax: 400 })
    const index = await openHistoryIndex(indexFolderOf(path))
    await followFiles({ index, files, onProgress: () => undefined })
    await files.append([challenged(6)])
    await expect(openComparedIndex(path)).rejects.toMatchObject({ code: 'journal_locked' })
    await index.close()
    await files.close()
    const compare = async () => {
      const compared = await openComparedIndex(path)
      const { problems } = await verify(path, { inspect: compared.problemsOf })
      await compared.close()
      return problems
    }
    expect([full.length, await compare()]).toEqual([4, []])
    const level = new ClassicLevel<Buffer, Buffer>(indexFolderOf(path), { keyEncoding: 'buffer' })
    for (const key of await level.keys().all()) {
      if (key[0] === 'n'.charCodeAt(0) && key.at(-1) === 2) await level.del(key)
    }
    await level.close()
    expect(await compare()).toEqual([
      expect.stringMatching(/index .*\.index lacks record 5; delete that folder/),
    ])
  })

  it('is counted, and its token is told', async () => {
    const { path } = await history()
    const told: number[][] = []
    expect(await verify(path, { onProgress: (...progress) => told.push(progress) })).toEqual({
      ...{ files: 5, records: 10, payments: 5, tornBytes: 0, binding, problems: [] },
    })
    expect(told).toEqual([1, 2, 3, 4, 5].map((files) => [files, 2 * files]))
    expect(await verify(join(temporaryFolder(), 'history.jsonl'))).toMatchObject({ files: 0, problems: [] })
  })

  it('names every file that is damaged, with its line, and every one that is missing', async () => {
    const { path, full } = await history()
    const [first = '', second = '', third = '', fourth = ''] = full
    damage(first)
    rmSync(third)
    truncateSync(fourth, statSync(fourth).size - 5)
    damage(path)
    const { problems } = await verify(path)
    expect(problems).toEqual([
      expect.stringContaining(`${first}: line 2 is damaged: its checksum does not match. Put back`),
      expect.stringContaining(`${fourth}: it begins with record 10, 7 was due. A file is missing`),
      expect.stringContaining(`${fourth}: its last line is damaged`),
      expect.stringContaining(`${path}: line 2 is damaged`),
    ])
    expect(problems.join()).not.toContain(second)
  })

  it('may end with a line that is not whole', async () => {
    const { path } = await history()
    truncateSync(path, statSync(path).size - 5)
    expect(await verify(path)).toMatchObject({ tornBytes: expect.any(Number), records: 9, problems: [] })
  })

  it('belongs to one token, and its files have their places', async () => {
    const { path, full } = await history()
    const elsewhere = { ...binding, chainId: 1 }
    expect((await verify(path, { binding: elsewhere })).problems).toHaveLength(5)
    const other = await history(undefined, elsewhere)
    writeFileSync(full[1] ?? '', readFileSync(other.full[1] ?? ''))
    writeFileSync(full[2] ?? '', readFileSync(full[3] ?? ''))
    const wrong = [
      expect.stringContaining(`${full[1]}: it belongs to token ${binding.token} on chain 1`),
      expect.stringContaining(`${full[2]}: it begins with record 10, 7 was due`),
    ]
    expect((await verify(path)).problems).toEqual(wrong)
    // The daemon meets the first of them at its start.
    await expect(openHistoryFiles({ path, binding, fileBytesMax: 400 })).rejects.toThrow('on chain 1')
  })

  it('has no record before the challenge of its payment', async () => {
    const { path } = await history((n) =>
      n === 3 ? [accepted(n), challenged(n)] : [challenged(n), accepted(n)],
    )
    expect((await verify(path)).problems).toEqual([
      expect.stringContaining('record 8 (accepted) comes before the challenge of its payment'),
    ])
  })
})
