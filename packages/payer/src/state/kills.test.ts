/** One total, many processes, and kills at random instants. `SPEND_KILLS` sets how many; `npm run test:crash` asks for 200. */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { systemClock } from '@svc-zerc20/protocol/system-clock'
import { expect, it } from 'vitest'
import { defaultLimits } from '../limits.js'
import { openState } from './open-state.js'

const processes = 16
const kills = Number(process.env.SPEND_KILLS ?? 20)
const cap = 4_000 * Math.max(1, kills / 20)
const script = fileURLToPath(new URL('../../test/spender.mjs', import.meta.url))

it(`R-098 ${processes} processes that spend at once never pass a total, with ${kills} of them killed at random instants`, {
  timeout: 600_000 + kills * 5_000,
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-pay-kills-'))
  const signatures = join(folder, 'signatures')
  const children = new Set<ChildProcess>()
  let killed = 0
  const start = () => {
    const child = spawn(process.execPath, [script, folder, signatures, `${cap}`], {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let complaint = ''
    child.stderr?.on('data', (part) => {
      complaint += part
    })
    children.add(child)
    // Killed processes are replaced, so that some are always at work.
    const ended = once(child, 'exit').then(([code, signal]) => {
      children.delete(child)
      if (code !== 0 && signal !== 'SIGKILL') throw new Error(complaint)
      return signal
    })
    if (killed >= kills) return ended
    killed += 1
    const timer = setTimeout(() => child.kill('SIGKILL'), randomInt(150, 900))
    return ended.finally(() => clearTimeout(timer))
  }
  async function keepGoing(): Promise<void> {
    while ((await start()) === 'SIGKILL');
  }
  try {
    await Promise.all(Array.from({ length: processes }, keepGoing))
    const lines = (await readFile(signatures, 'utf8')).trim().split('\n')
    const signed = new Map(lines.map((line) => line.split(' ') as [string, string]))
    const sum = [...signed.values()].reduce((total, amount) => total + BigInt(amount), 0n)
    expect(sum).toBeLessThanOrEqual(BigInt(cap))
    const state = await openState({ folder, clock: systemClock, limits: defaultLimits }).totals.state()
    const open = Object.values(state.reservations).reduce((total, { amount }) => total + BigInt(amount), 0n)
    const kept = BigInt(state.totals.p ?? '0') + open
    // Everything signed is counted, and what is counted fits.
    expect(kept).toBeGreaterThanOrEqual(sum)
    expect(kept).toBeLessThanOrEqual(BigInt(cap))
    // The processes ended because nothing more fitted, so nearly all of it is used.
    expect(kept).toBeGreaterThan(BigInt(cap) - 100n)
  } finally {
    for (const child of children) child.kill('SIGKILL')
    await rm(folder, { recursive: true, force: true })
  }
})
