import { chmodSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { unixSeconds } from '@svc-zerc20/protocol'
import { systemClock } from '@svc-zerc20/protocol/system-clock'
import { describe, expect, it } from 'vitest'
import { historyEnvironment } from '../../../../../test/support/history-environment.js'
import { minimalConfig } from '../../../test/config.js'
import { temporaryFiles } from '../../../test/files.js'
import { issuerOf } from '../../../test/issuer.js'
import { parseConfig } from '../../config/config.js'
import { exitCodeOf, format, isFailure } from '../../config/finding.js'
import { lockJournal } from '../../store/journal/lock.js'
import { probeHistory } from './history.js'

const files = temporaryFiles()
const config = parseConfig(minimalConfig())

/** A history with an issuer, whose files belong together. */
async function wholeGroup() {
  const issuer = await issuerOf(unixSeconds(systemClock))
  const env = {
    ...historyEnvironment(join(files.folder(), 'history.jsonl')),
    HISTORY_ISSUER_PRIVATE_KEY_PATH: issuer.files.key,
    HISTORY_ISSUER_MANIFEST_PATH: issuer.files.manifest,
    HISTORY_ISSUER_TRUST_ANCHOR_PATH: issuer.files.anchor,
    HISTORY_ARTIFACT_PATH: files.folder(),
  }
  return { issuer, env }
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

  it('R-086 names every piece of the issuer that cannot be read or written', async () => {
    const { env } = await wholeGroup()
    const gone = join(files.path, 'gone')
    for (const name of Object.keys(env).filter((name) => /ISSUER|ARTIFACT/.test(name))) {
      const failures = (await linesOf({ ...env, [name]: gone })).filter((line) => line.startsWith('fail'))
      expect(failures).toEqual([expect.stringMatching(new RegExp(`^fail ${name}: .*${gone}`))])
    }
    const file = env.HISTORY_ISSUER_MANIFEST_PATH
    expect(await linesOf({ ...env, HISTORY_ARTIFACT_PATH: file })).toContain(
      `fail HISTORY_ARTIFACT_PATH: ${file} is no folder`,
    )
    const folder = { ...env, HISTORY_ISSUER_MANIFEST_PATH: files.path }
    expect((await linesOf(folder)).at(-1)).toMatch(/^fail HISTORY_ISSUER_MANIFEST_PATH: EISDIR/)
  })

  it('R-086 refuses a private key that every user can use, which is a mistake to fix', async () => {
    const { env } = await wholeGroup()
    const { HISTORY_ISSUER_PRIVATE_KEY_PATH: key } = env
    for (const mode of [0o644, 0o601, 0o602]) {
      chmodSync(key, mode)
      const findings = await probeHistory(env, config, systemClock)
      expect(findings.map(format)).toContain(
        `fail HISTORY_ISSUER_PRIVATE_KEY_PATH: ${key} can be used by every user of this machine; take that away with chmod o= ${key}`,
      )
      expect(exitCodeOf(findings.filter(isFailure))).toBe(1)
    }
    chmodSync(key, 0o640)
    expect((await linesOf(env)).filter((line) => line.startsWith('fail'))).toEqual([])
  })

  it('R-086 compares the key of the issuer with manifest and trust anchor', async () => {
    const [{ env, issuer }, other] = [await wholeGroup(), await wholeGroup()]
    const lines = await linesOf(env)
    expect(lines[0]).toMatch(/statements are issued$/)
    expect(lines).toContain(
      `ok   HISTORY_ISSUER_PRIVATE_KEY_PATH: https://pay.example signs statements with the key ${issuer.kid}`,
    )
    const { HISTORY_ISSUER_TRUST_ANCHOR_PATH } = other.env
    expect((await linesOf({ ...env, HISTORY_ISSUER_TRUST_ANCHOR_PATH })).at(-1)).toBe(
      'fail HISTORY_ISSUER_MANIFEST_PATH: The manifest belongs to another trust anchor.',
    )
  })
})
