/** Commands, as an operator types them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Secret } from '@svc-zerc20/protocol'
import { systemClock } from '@svc-zerc20/protocol/system-clock'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { historyEnvironment } from '../../../../../test/support/history-environment.js'
import { minimalConfig } from '../../../test/config.js'
import { runHere } from '../../../test/run-here.js'
import { createTokens } from '../../history/identity/tokens.js'
import { systemRandom } from '../../system.js'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-history-command-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

const env = historyEnvironment('history.jsonl')

let files = 0

function token(role: string, { tables = {}, more = {}, options = [] as string[] } = {}) {
  files += 1
  const file = join(folder, `${files}.toml`)
  writeFileSync(file, minimalConfig(tables))
  return runHere(['history', 'token', '--role', role, '--config', file, ...options], { ...env, ...more })
}

const readAt = (url: string, text: string) => {
  const participants = {
    payer: { tenant: env.HISTORY_PAYER_TENANT, actor: env.HISTORY_PAYER_ACTOR },
    provider: { tenant: env.HISTORY_PROVIDER_TENANT, actor: env.HISTORY_PROVIDER_ACTOR },
  }
  const settings = { identitySecret: new Secret(env.HISTORY_IDENTITY_SECRET), participants }
  return createTokens({ settings, url, clock: systemClock, random: systemRandom }).read(`Bearer ${text}`)
}

describe('svc-facilitator history token', () => {
  it('R-143 prints a token that the daemon takes, and nothing else, without any key', async () => {
    const [payer, provider] = await Promise.all([
      token('payer', { tables: { listen: "host = '127.0.0.1'\nport = 4099" } }),
      token('provider', { options: ['--url', 'https://pay.example/'] }),
    ])
    expect(payer).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^for the payer at .*, until 20.*Z\n$/),
    })
    expect(payer.stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/)
    expect(await readAt('http://127.0.0.1:4099', payer.stdout.trim())).toMatchObject({
      value: { role: 'payer' },
    })
    expect(await readAt('https://pay.example', provider.stdout.trim())).toMatchObject({
      value: { role: 'provider' },
    })
  })

  it('says what is missing and exits with 1', async () => {
    const runs = await Promise.all([
      token('payer', { more: { HISTORY_PAYER_ACTOR: undefined } }),
      token('payer', { more: Object.fromEntries(Object.keys(env).map((name) => [name, undefined])) }),
      token('payer', { more: { HISTORY_IDENTITY_SECRET: 'short' } }),
      token('payer', { tables: { listen: 'port = 0' } }),
      token('payer', { tables: { daemon: "[history]\nurl = 'https://user@pay.example'" } }),
      token('admin'),
      token('payer', { options: ['--url', 'pay.example'] }),
    ])
    expect(runs.map(({ code, stdout }) => ({ code, stdout }))).toEqual(
      runs.map(() => ({ code: 1, stdout: '' })),
    )
    const [actor, all, weak, port, url, role, option] = runs.map(({ stderr }) => stderr)
    expect(actor).toContain('HISTORY_PAYER_ACTOR')
    expect(all).toContain('PAYMENT_HISTORY_PATH: not set')
    expect(weak).toMatch(/HISTORY_IDENTITY_SECRET.*32 characters/)
    expect(weak).not.toContain('short')
    expect(port).toContain('--url')
    expect(url).toContain('history.url')
    expect(role).toMatch(/payer, provider/)
    expect(option).toMatch(/http or https/)
  })
})
