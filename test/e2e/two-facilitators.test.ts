/** The tour of `npm start -- --postgres`: two facilitators on one database, of which one is killed. */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { root } from '../../scripts/source-files.js'
import { notRun } from '../support/postgres-server.js'

const run = promisify(execFile)

describe.skipIf(notRun() !== '')(`npm start -- --postgres${notRun()}`, () => {
  it('R-114 kills the facilitator that has sent a burn; the other one accepts the payment and finalizes it', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'svc-two-test-'))
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
    const ports = ['chain', 'facilitator', 'shop', 'storefront'].flatMap((name) => [`--${name}-port`, '0'])
    const options = ['--once', '--postgres', '--dir', directory, '--block-time', '0', ...ports]
    const { stdout } = await run(process.execPath, [join(root, 'scripts', 'start.mjs'), ...options])

    const act =
      /(facilitator [12]) has sent the burn, no block has it yet: kill -9[\s\S]+?(facilitator [12]) took over/
    const [told = '', killed, heir] = act.exec(stdout) ?? []
    expect(heir).toBe(killed === 'facilitator 1' ? 'facilitator 2' : 'facilitator 1')
    expect(told).not.toContain('accepted')
    expect(stdout.match(/accepted: burned in 0x/g)).toHaveLength(2)
    expect(stdout).toMatch(/the permit payment: finalized/)
    expect(stdout).toMatch(/the self-transfer: finalized/)
    expect(stdout).toMatch(/the provider has 0\.251 zUSD more, minted/)

    const eventsOf = (name: string | undefined): string[] => {
      const file = join(directory, name === 'facilitator 1' ? 'facilitator.log' : 'facilitator-2.log')
      return [...readFileSync(file, 'utf8').matchAll(/"event":"([\w.]+)"/g)].map(([, event = '']) => event)
    }
    expect(eventsOf(killed)).toContain('active.taken')
    for (const event of ['payment.accepted', 'facilitator.stopped'])
      expect(eventsOf(killed)).not.toContain(event)
    expect(eventsOf(heir)).toEqual(
      expect.arrayContaining(['active.taken', 'burn.resumed', 'payment.accepted', 'facilitator.stopped']),
    )

    const [, port] = /^PostgreSQL at postgres:\/\/svc@127\.0\.0\.1:(\d+)/m.exec(stdout) ?? []
    const [error] = await once(connect(Number(port), '127.0.0.1'), 'error')
    expect(error).toMatchObject({ code: 'ECONNREFUSED' })
  })

  it('keeps no ledger for a chain that goes on', async () => {
    const command = join(root, 'packages', 'devnet', 'dist', 'main.js')
    const args = [command, '--postgres', '--rpc-url', 'http://127.0.0.1:1']
    await expect(run(process.execPath, args)).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/--postgres lasts as long as a new chain/),
    })
  })
})
