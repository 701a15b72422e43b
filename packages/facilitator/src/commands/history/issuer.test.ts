/** `svc-facilitator history issuer`: from an empty folder to a key, a rotation and revocations. */
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '@svc-zerc20/protocol/system-clock'
import { parseTrustAnchor, readManifest } from '@svc-zerc20/statement'
import { expect, it } from 'vitest'
import { deployment } from '../../../test/challenges.js'
import { temporaryFolder } from '../../../test/folder.js'
import { payerA } from '../../../test/history-payments.js'
import { settingsOf } from '../../../test/issuer.js'
import { runHere } from '../../../test/run-here.js'
import { sightOf } from '../../history/scopes.js'
import { createStatements } from '../../history/statements/statements.js'
import { systemRandom } from '../../system.js'

const issuer = (...args: readonly string[]) => runHere(['history', 'issuer', ...args])

it('makes an issuer, changes its key, revokes the old one, and revokes a statement', async () => {
  const folder = join(temporaryFolder(), 'issuer')
  const made = await issuer('init', '--folder', folder, '--issuer', 'https://pay.example')
  expect(made).toMatchObject({ code: 0, stderr: '' })
  const kid = /with the key (\S+)/.exec(made.stdout)?.[1] ?? ''
  const files = {
    anchorKey: join(folder, 'trust-anchor-private-key.pem'),
    anchor: join(folder, 'trust-anchor.json'),
    key: join(folder, 'issuer-private-key.pem'),
    manifest: join(folder, 'manifest.jws'),
  }
  expect([files.key, files.anchorKey].map((file) => statSync(file).mode & 0o777)).toEqual([0o600, 0o600])
  const now = Math.floor(systemClock.now() / 1_000)
  const manifest = () =>
    readManifest(
      readFileSync(files.manifest, 'utf8'),
      parseTrustAnchor(readFileSync(files.anchor, 'utf8')),
      now + 60,
    )
  expect(manifest()).toMatchObject({ iss: 'https://pay.example', seq: 1, keys: [{ kid }] })
  // Nothing is ever overwritten.
  expect(await issuer('init', '--folder', folder, '--issuer', 'again')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^fail .*there is an issuer already; rotate changes its key\n$/),
  })

  const rotated = await issuer('rotate', '--folder', folder)
  const second = manifest().keys[1]?.kid
  expect(rotated).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`the key is ${second} now; the one before retires in 60 minutes`),
  })
  expect(await issuer('revoke-key', kid, '--folder', folder)).toMatchObject({ code: 0 })
  expect(manifest()).toMatchObject({
    seq: 3,
    keys: [{ kid, revokedAt: expect.any(Number), exp: expect.any(Number) }, { kid: second }],
  })
  expect(await issuer('revoke-key', 'third', '--folder', folder)).toMatchObject({
    code: 1,
    stderr: `fail the manifest has no key third; its keys are ${kid}, ${second}\n`,
  })

  const settings = settingsOf({ files }, join(folder, 'statements'))
  const statements = await createStatements({
    settings,
    money: { chainId: deployment.chainId, token: deployment.token },
    clock: { now: () => (now + 60) * 1_000 },
    random: systemRandom,
    log: () => undefined,
  })
  const sum = { payments: 0, amount: 0n }
  const sight = sightOf('payer', { payer: { address: payerA }, provider: {} }, deployment.treasury)
  const statement = await statements.stateTotal(
    sight,
    { accepted: sum, late: sum },
    { since: 0, until: 1 },
    { audience: 'a' },
  )
  if (!statement.ok) throw new Error(statement.message)
  const { jti } = statement.value
  expect(await issuer('revoke', jti, '--artifacts', settings.artifactPath)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(new RegExp(`^the statement ${jti} is revoked until it expires at 20`)),
  })
  for (const unknown of ['../../manifest', 'f'.repeat(32)]) {
    expect(await issuer('revoke', unknown, '--artifacts', settings.artifactPath)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('has no such statement'),
    })
  }
  expect(await issuer('revoke', jti)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('HISTORY_ARTIFACT_PATH'),
  })
})
