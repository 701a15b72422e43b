import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { developmentRoles } from '../node/accounts.js'
import { howToAsk, openHistory } from './history-mode.js'

const directory = mkdtempSync(join(tmpdir(), 'svc-devnet-history-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

/** In the place of `svc-facilitator`: makes the folder, and fails where there is one. */
const command = join(directory, 'command.mjs')
writeFileSync(
  command,
  `import { mkdirSync } from 'node:fs'; mkdirSync(process.argv[process.argv.indexOf('--folder') + 1])`,
)

const open = () =>
  openHistory({
    directory,
    path: join(directory, 'history.jsonl'),
    issuer: join(directory, 'issuer'),
    proofs: join(directory, 'proofs'),
    command,
  })

test('a history has a secret of its own each time, in a file for its owner, and keeps its issuer', async () => {
  const { env, envFile } = await open()
  expect(env).toMatchObject({
    PAYMENT_HISTORY_PATH: join(directory, 'history.jsonl'),
    HISTORY_IDENTITY_SECRET: expect.stringMatching(/^[0-9a-f]{64}$/),
    HISTORY_PAYER_ADDRESS: developmentRoles.payer.address,
    HISTORY_PROVIDER_ADDRESS: developmentRoles.provider.address,
    HISTORY_ARTIFACT_PATH: join(directory, 'proofs'),
  })
  expect(statSync(envFile).mode & 0o777).toBe(0o600)
  expect(parseEnv(readFileSync(envFile, 'utf8'))).toEqual(env)
  const again = await open()
  expect(again.env.HISTORY_IDENTITY_SECRET).not.toBe(env.HISTORY_IDENTITY_SECRET)
})

test('only a network with a history tells how to ask for it', () => {
  const network = { configFile: 'facilitator.toml', facilitatorUrl: 'http://127.0.0.1:4032' }
  expect(howToAsk({ ...network, historyEnvFile: undefined })).toEqual([])
  expect(howToAsk({ ...network, historyEnvFile: 'history.env' }).join('\n')).toMatch(/token --role provider/)
})
