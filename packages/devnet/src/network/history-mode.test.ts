import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { developmentRoles } from '../node/accounts.js'
import { howToAsk, openHistory } from './history-mode.js'

const directory = mkdtempSync(join(tmpdir(), 'svc-devnet-history-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

test('a history has a secret of its own each time, in a file that only its owner can read', () => {
  const path = join(directory, 'history.jsonl')
  const { env, envFile } = openHistory(directory, path)
  expect(env).toMatchObject({
    PAYMENT_HISTORY_PATH: path,
    HISTORY_IDENTITY_SECRET: expect.stringMatching(/^[0-9a-f]{64}$/),
    HISTORY_PAYER_ADDRESS: developmentRoles.payer.address,
    HISTORY_PROVIDER_ADDRESS: developmentRoles.provider.address,
  })
  expect(statSync(envFile).mode & 0o777).toBe(0o600)
  const lines = readFileSync(envFile, 'utf8').trim().split('\n')
  expect(Object.fromEntries(lines.map((line) => line.split('=')))).toEqual(env)
  expect(openHistory(directory, path).env.HISTORY_IDENTITY_SECRET).not.toBe(env.HISTORY_IDENTITY_SECRET)
})

test('only a network with a history tells how to ask for it', () => {
  const network = { configFile: 'facilitator.toml', facilitatorUrl: 'http://127.0.0.1:4032' }
  expect(howToAsk({ ...network, historyEnvFile: undefined })).toEqual([])
  expect(howToAsk({ ...network, historyEnvFile: 'history.env' }).join('\n')).toMatch(
    /history token --role provider/,
  )
})
