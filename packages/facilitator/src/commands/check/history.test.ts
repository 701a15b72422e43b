import { chmodSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '@svc-zerc20/protocol/system-clock'
import { describe, expect, it } from 'vitest'
import { historyEnvironment, issuerEnvironment } from '../../../../../test/support/history-environment.js'
import { minimalConfig } from '../../../test/config.js'
import { temporaryFiles } from '../../../test/files.js'
import { issuerOf } from '../../../test/issuer.js'
import { parseConfig } from '../../config/config.js'
import { exitCodeOf, format } from '../../config/finding.js'
import { lockJournal } from '../../store/journal/lock.js'
import { probeHistory } from './history.js'

const files = temporaryFiles()
const config = parseConfig(minimalConfig())

/** A whole issuer group, with files that exist. */
function issuerFiles() {
  const key = files.write('issuer.key', 'key')
  chmodSync(key, 0o640)
  const [manifest, anchor] = ['manifest', 'anchor'].map((name) => files.write(name, name)) as [string, string]
  return issuerEnvironment({ key, manifest, anchor }, files.folder())
}

const linesOf = async (env: Record<string, string>) =>
  (await probeHistory(env, config, systemClock)).map(format)

describe('probeHistory', () => {
  it('R-085 looks at nothing while the history is detached', async () => {
    const { HISTORY_PAYER_ACTOR: _missing, ...part } = historyEnvironment('/no/such/folder/history.jsonl')
    expect(await linesOf(part)).toEqual([])
    expect(await linesOf({})).toEqual([])
  })

  it('R-085 needs a folder that exists and can be written, and a file where a file should be', async () => {
    const missing = join(files.path, 'missing')
    expect(await linesOf(historyEnvironment(join(missing, 'history.jsonl')))).toEqual([
      `fail PAYMENT_HISTORY_PATH: the folder ${missing} does not exist`,
    ])
    const blocked = files.write('a-file', '')
    expect(await linesOf(historyEnvironment(join(blocked, 'history.jsonl')))).toEqual([
      `fail PAYMENT_HISTORY_PATH: ${blocked} is no folder`,
    ])
    expect(await linesOf(historyEnvironment(files.path))).toEqual([
      `fail PAYMENT_HISTORY_PATH: ${files.path} is no file`,
    ])
  })

  it('R-085 says what is there, makes nothing, and leaves the lock of a daemon that runs alone', async () => {
    const folder = files.folder()
    const path = join(folder, 'history.jsonl')
    expect(await linesOf(historyEnvironment(path))).toEqual([
      `ok   PAYMENT_HISTORY_PATH: ${path} can be written; no wallet login, no statements are issued`,
    ])
    expect(readdirSync(folder)).toEqual([])
    writeFileSync(join(folder, 'history.jsonl'), '123')
    writeFileSync(join(folder, 'history.jsonl.note'), 'not ours')
    const lock = await lockJournal(path)
    expect(await linesOf(historyEnvironment(path))).toEqual([
      `ok   PAYMENT_HISTORY_PATH: ${path} has 3 bytes; no wallet login, no statements are issued`,
    ])
    await lock.release()
  })

  it('R-086 names every piece of the issuer that cannot be read or written, also of half a group', async () => {
    const good = issuerFiles()
    const ok = `ok   HISTORY_ARTIFACT_PATH: ${good.HISTORY_ARTIFACT_PATH} can be written`
    expect(await linesOf(good)).toEqual([ok])
    for (const name of Object.keys(good)) {
      const gone = join(files.path, 'gone')
      const { [name as keyof typeof good]: _other, ...others } = good
      const lines = await linesOf({ ...others, [name]: gone })
      expect(lines.filter((line) => line !== ok)).toEqual([
        expect.stringMatching(new RegExp(`^fail ${name}: .*${gone} does not exist`)),
      ])
      expect(await linesOf({ [name]: gone })).toHaveLength(1)
    }
    const path = join(files.path, 'with-issuer.jsonl')
    const [first] = await linesOf({ ...historyEnvironment(path), ...good })
    expect(first).toMatch(/statements are issued$/)
  })

  it('R-086 refuses a folder in the place of a file, and a file in the place of the folder', async () => {
    const good = issuerFiles()
    expect(await linesOf({ HISTORY_ISSUER_MANIFEST_PATH: files.path })).toEqual([
      `fail HISTORY_ISSUER_MANIFEST_PATH: ${files.path} is no file`,
    ])
    const file = good.HISTORY_ISSUER_MANIFEST_PATH
    expect(await linesOf({ HISTORY_ARTIFACT_PATH: file })).toEqual([
      `fail HISTORY_ARTIFACT_PATH: ${file} is no folder`,
    ])
  })

  it('R-086 refuses a private key that every user can use, which is a mistake to fix', async () => {
    const { HISTORY_ISSUER_PRIVATE_KEY_PATH: key } = issuerFiles()
    for (const mode of [0o644, 0o601, 0o602]) {
      chmodSync(key, mode)
      const findings = await probeHistory({ HISTORY_ISSUER_PRIVATE_KEY_PATH: key }, config, systemClock)
      expect(findings.map(format)).toEqual([
        `fail HISTORY_ISSUER_PRIVATE_KEY_PATH: ${key} can be used by every user of this machine; take that away with chmod o= ${key}`,
      ])
      expect(exitCodeOf(findings)).toBe(1)
    }
    chmodSync(key, 0o600)
    expect(await linesOf({ HISTORY_ISSUER_PRIVATE_KEY_PATH: key })).toEqual([])
  })

  it('R-086 compares the key of the issuer with manifest and trust anchor', async () => {
    const now = Math.floor(systemClock.now() / 1_000)
    const [one, other] = [await issuerOf(now), await issuerOf(now)]
    const env = {
      ...historyEnvironment(join(files.folder(), 'history.jsonl')),
      HISTORY_ISSUER_PRIVATE_KEY_PATH: one.files.key,
      HISTORY_ISSUER_MANIFEST_PATH: one.files.manifest,
      HISTORY_ISSUER_TRUST_ANCHOR_PATH: one.files.anchor,
      HISTORY_ARTIFACT_PATH: files.folder(),
    }
    expect(await linesOf(env)).toContain(
      `ok   HISTORY_ISSUER_PRIVATE_KEY_PATH: https://pay.example signs statements with the key ${one.kid}`,
    )
    const lines = await linesOf({ ...env, HISTORY_ISSUER_TRUST_ANCHOR_PATH: other.files.anchor })
    expect(lines.at(-1)).toBe(
      'fail HISTORY_ISSUER_MANIFEST_PATH: The manifest belongs to another trust anchor.',
    )
  })
})
