import { rmSync, writeFileSync } from 'node:fs'
import { link, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '@svc-zerc20/protocol/system-clock'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createVersionedFile } from './versioned-file.js'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-pay-cell-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

type Counter = { readonly count: number }
const isCounter = (value: unknown) =>
  typeof (value as Counter)?.count === 'number' ? (value as Counter) : undefined
const open = (clock = systemClock) => createVersionedFile({ folder, parse: isCounter, clock })
const increment = (before: Counter | undefined) => ({ count: (before?.count ?? 0) + 1 })

describe('a cell in a folder', () => {
  it('is empty at first, in a folder that need not be there', async () => {
    expect(
      await createVersionedFile({
        folder: join(folder, 'none'),
        parse: isCounter,
        clock: systemClock,
      }).read(),
    ).toBe(undefined)
  })

  it('loses no change, however many make one at once', async () => {
    const cells = Array.from({ length: 4 }, () => open())
    await Promise.all(cells.flatMap((cell) => Array.from({ length: 10 }, () => cell.update(increment))))
    expect(await open().read()).toEqual({ count: 40 })
  })

  it('keeps few files', async () => {
    for (let i = 0; i < 60; i += 1) await open().update(increment)
    expect((await readdir(folder)).length).toBeLessThan(20)
  })

  it('writes nothing when nothing changes', async () => {
    await open().update(increment)
    const before = await readdir(folder)
    await open().update((value) => value ?? { count: 0 })
    expect(await readdir(folder)).toEqual(before)
  })

  it('does not count the change of a writer that slept while its number was given out and removed', async () => {
    const cell = open()
    await cell.update(increment)
    const seen: number[] = []
    let isFirst = true
    await cell.update((before) => {
      seen.push(before?.count ?? 0)
      if (isFirst) {
        // Others go on while this one sleeps: its number 2 is given out, and removed again.
        isFirst = false
        return sleepUntilLater(before)
      }
      return increment(before)
    })
    expect(seen[0]).toBe(1)
    expect((await open().read())?.count).toBe((seen.at(-1) ?? 0) + 1)

    function sleepUntilLater(before: Counter | undefined): Counter {
      writeFileSync(join(folder, '9.json'), JSON.stringify({ version: 1, commits: [], value: { count: 8 } }))
      rmSync(join(folder, '1.json'))
      return increment(before)
    }
  })

  it.each([
    ['half a file', '{"version":1,"comm'],
    ['an empty file', ''],
    ['another version', JSON.stringify({ version: 2, commits: [], value: { count: 1 } })],
    ['a value that is none', JSON.stringify({ version: 1, commits: [], value: { count: 'many' } })],
  ])('stops at %s, and does not begin again', async (_, text) => {
    await open().update(increment)
    await writeFile(join(folder, '2.json'), text)
    await expect(open().read()).rejects.toMatchObject({ code: 'state_unusable' })
    await expect(open().update(increment)).rejects.toMatchObject({ code: 'state_unusable' })
  })

  it('leaves what a killed process was writing alone, and removes it when it is old', async () => {
    await open().update(increment)
    await writeFile(join(folder, 'half.tmp'), '{')
    for (let i = 0; i < 20; i += 1) await open().update(increment)
    expect(await readdir(folder)).toContain('half.tmp')
    const later = open({ ...systemClock, now: () => Date.now() + 3_600_000 })
    for (let i = 0; i < 20; i += 1) await later.update(increment)
    expect(await readdir(folder)).not.toContain('half.tmp')
    expect(await open().read()).toEqual({ count: 41 })
  })

  it('works when a killed process left its file linked under both names', async () => {
    await open().update(increment)
    await writeFile(
      join(folder, 'x.tmp'),
      JSON.stringify({ version: 1, commits: ['x'], value: { count: 7 } }),
    )
    await link(join(folder, 'x.tmp'), join(folder, '2.json'))
    expect(await open().update(increment)).toEqual({ count: 8 })
  })
})
