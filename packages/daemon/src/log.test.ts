import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, it } from 'vitest'
import { createLog } from './log.js'

const built = new URL('../dist/index.js', import.meta.url).href

describe('a line of the log', () => {
  it('is one JSON object with the time, the level of its event and all fields; amounts are decimal text', () => {
    const lines: string[] = []
    const log = createLog(
      ({ event }: { event: string; gas: bigint; err: unknown }) => (event === 'bad' ? 'error' : 'info'),
      { write: (line) => void lines.push(line) },
    )
    log({ event: 'bad', gas: 2n ** 64n, err: new Error('why', { cause: new Error('because') }) })
    const [line = ''] = lines
    const written = JSON.parse(line)
    expect(lines).toEqual([`${JSON.stringify(written)}\n`])
    expect(written).toMatchObject({ level: 50, event: 'bad', gas: `${2n ** 64n}`, err: { type: 'Error' } })
    expect(written.err.message).toBe('why: because')
    expect(Date.parse(written.time)).toBeGreaterThan(0)
  })
})

describe('the log of a process that ends', () => {
  const writing = (lines: number) => `
    import { createProcessLog, exitCodes } from ${JSON.stringify(built)}
    const { log, exit } = createProcessLog(() => 'info')
    const padding = 'x'.repeat(1_000)
    for (let line = 0; line < ${lines}; line++) {
      log({ event: 'counted', line, padding })
      // Some of the lines are being written while others come.
      if (line % 100 === 0) await new Promise(setImmediate)
    }
    const ending = exit(exitCodes.tryAgain)
    log({ event: 'late' })
    await ending`

  let child: ChildProcess | undefined
  afterEach(() => child?.kill('SIGKILL'))

  function start(script: string) {
    const started = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    child = started
    return started
  }

  it('has every line, whole and in order, and no line after the end', async () => {
    const child = start(writing(2_000))
    const [output, exited] = await Promise.all([text(child.stdout), once(child, 'exit')])
    const lines = output
      .trimEnd()
      .split('\n')
      .map((line): { line: number } => JSON.parse(line))
    expect(lines.map(({ line }) => line)).toEqual(Array.from({ length: 2_000 }, (_, line) => line))
    expect(exited).toEqual([75, null])
  })

  it('ends with its code when the reader went away', async () => {
    const child = start(writing(2_000))
    child.stdout.destroy()
    expect(await once(child, 'exit')).toEqual([75, null])
  })

  it('ends although a disk hangs, by a kill', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hangs-'))
    const hanging = join(folder, 'pipe')
    // Opening a pipe that nobody reads hangs, like a thread whose disk does not answer.
    execFileSync('mkfifo', [hanging])
    const child = start(`
      import { open } from 'node:fs/promises'
      void open(${JSON.stringify(hanging)}, 'w')
      ${writing(10)}`)
    const [output, exited] = await Promise.all([text(child.stdout), once(child, 'exit')])
    rmSync(folder, { recursive: true })
    expect([output.trimEnd().split('\n').length, exited]).toEqual([10, [null, 'SIGKILL']])
  })

  it('ends although the reader does not read, by a kill', async () => {
    const child = start(writing(2_000))
    expect(await once(child, 'exit')).toEqual([null, 'SIGKILL'])
    child.stdout.destroy()
  })
})
