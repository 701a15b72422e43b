import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { developmentRoles } from '@svc-zerc20/devnet'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { minimalConfig } from '../../../test/config.js'
import { parseConfig } from '../../config/config.js'
import { readSecrets } from '../../config/secrets/secrets.js'
import { recoverBurns } from './recover-burns.js'

const { treasury, relayer } = developmentRoles

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-recover-test-'))
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true, force: true })
})

it('a dry run whose journal cannot be opened leaves no copy of it behind', async () => {
  const journal = join(folder, 'damaged.jsonl')
  writeFileSync(journal, 'not a record\nnor this\n')
  vi.stubEnv('TMPDIR', folder)
  const text = minimalConfig()
    .replace("journal = 'none'", `journal = '${journal}'`)
    .replace(/treasury = .*/, `treasury = '${treasury.address}'`)
  const config = parseConfig(`${text}\n[zerc20]\nartifacts = '${folder}'\n`)
  const env = { SVC_TREASURY_PK: treasury.privateKey, SVC_RELAYER_PK: relayer.privateKey }
  const { secrets } = readSecrets(config, env)
  const recovering = recoverBurns({
    config,
    secrets,
    log: () => undefined,
    dryRun: true,
    nonces: [],
    ledgerIds: [],
    powBits: [],
    signal: new AbortController().signal,
    say: () => undefined,
  })
  await expect(recovering).rejects.toMatchObject({ code: 'journal_corrupt' })
  expect(readdirSync(folder)).toEqual(['damaged.jsonl'])
})
