import { spawn } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { lockFolder } from './build-lock.js'

describe('the lock of a folder', () => {
  let folder: string
  let file: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-lock-'))
    file = join(folder, 'building.lock')
  })
  afterEach(() => rm(folder, { recursive: true }))

  const take = async () => {
    let waited = 0
    const unlock = await lockFolder(folder, () => waited++)
    return { unlock, waited }
  }

  it('is taken at once when nobody holds it, and leaves nothing', async () => {
    const { unlock, waited } = await take()
    expect(await readFile(file, 'utf8')).toBe(String(process.pid))
    await unlock()
    expect({ waited, left: await readdir(folder) }).toEqual({ waited: 0, left: [] })
  })

  it('is waited for while its holder lives, with one word about it', async () => {
    const holder = spawn(process.execPath, ['-e', 'process.stdin.resume()'])
    await writeFile(file, String(holder.pid))
    const taken = take()
    const ended = new Promise((resolve) => holder.once('exit', resolve))
    // Long enough for several polls of the lock.
    await new Promise((resolve) => setTimeout(resolve, 700))
    expect(await readFile(file, 'utf8')).toBe(String(holder.pid))
    holder.kill('SIGKILL')
    await ended
    const { unlock, waited } = await taken
    expect(waited).toBe(1)
    await unlock()
  })

  it.each(['', '999999999'])(
    'is taken from a process that was killed, whatever it wrote: "%s"',
    async (text) => {
      await writeFile(file, text)
      const { unlock } = await take()
      expect(await readFile(file, 'utf8')).toBe(String(process.pid))
      await unlock()
    },
  )
})
