/** From a payment to a statement that a verifier believes with the trust anchor alone, and everything that ends that belief. */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  parseStatementFile,
  presentStatement,
  type Verification,
  verifyStatement,
} from '@svc-zerc20/statement'
import { describe, expect, it } from 'vitest'
import { deployment, seconds } from '../../../test/challenges.js'
import {
  dayTold,
  historyPaymentOf,
  nextMidnight,
  noon,
  payerA,
  toldFrom,
} from '../../../test/history-payments.js'
import { issuerName, issuerOf, type TestIssuer } from '../../../test/issuer.js'
import { builtModule, runScript } from '../../../test/node-script.js'
import { limits } from '../../config/limits.js'
import { systemRandom } from '../../system.js'
import { type SeenPayment, type Sight, seenBy, sightOf } from '../scopes.js'
import { expiryOf } from './artifacts.js'
import { revokeIssuerKey, rotateIssuer } from './issuer-files.js'
import { revoke } from './revocation-list.js'
import { createStatements, type SignedStatement } from './statements.js'

const money = { chainId: deployment.chainId, token: deployment.token }
const participants = { payer: { address: payerA }, provider: {} }
const payer = sightOf('payer', participants, deployment.treasury)
const provider = sightOf('provider', participants, deployment.treasury)
const minted = historyPaymentOf(1, { finalizedAt: noon + 61 })
const request = { audience: 'https://auditor.example', nonce: 'n-1' }
const day = 86_400

function seen(sight: Sight, now: number, payment = minted): SeenPayment {
  const found = seenBy(sight, payment, seconds(now))
  if (!found) throw new Error('not seen')
  return found
}

/** An issuer that signs once the payer is told of the mint. */
async function world(bounds: { statementsPerHourMax?: number } = {}) {
  let now = toldFrom + 60
  const issuer = await issuerOf(now - day)
  const warnings: unknown[] = []
  const statements = await createStatements({
    settings: issuer.settings,
    money,
    clock: { now: () => now * 1_000 },
    random: systemRandom,
    log: (event) => warnings.push(event),
    ...bounds,
  })
  return {
    issuer,
    statements,
    warnings,
    now: () => now,
    pass(time: number) {
      now += time
    },
    prove: async () => taken(await statements.statePayment(payer, seen(payer, now), request)),
  }
}

function taken<T>(result: { ok: true; value: T } | { ok: false; reason: string }): T {
  if (!result.ok) throw new Error(result.reason)
  return result.value
}

/** As a verifier does it: the file and the trust anchor, and perhaps newer papers. */
function verify(text: string, { trustAnchor }: TestIssuer, now: number, newer: Partial<Verification> = {}) {
  const { statement, manifest = '', revocations = '' } = parseStatementFile(text)
  return verifyStatement(statement, {
    trustAnchor,
    manifests: [manifest],
    revocations: [revocations],
    now,
    ...request,
    ...newer,
  })
}
const textOf = (issued: SignedStatement) => JSON.stringify(issued)

describe('statements', () => {
  it('R-125 go from the issuer through few disclosures to a verifier that has the trust anchor alone', async () => {
    const { issuer, prove, now } = await world()
    const issued = await prove()
    expect(await verify(textOf(issued), issuer, now())).toMatchObject({
      ok: true,
      statement: {
        issuer: issuerName,
        kid: issuer.kid,
        jti: issued.jti,
        expiresAt: issued.expiresAt,
        claims: { payer: payerA },
      },
    })
    const shown = textOf({
      ...issued,
      statement: await presentStatement(issued.statement, ['value', 'finalizedOn']),
    })
    const verdict = await verify(shown, issuer, now())
    expect(verdict).toMatchObject({
      ok: true,
      statement: { claims: { value: '1000', outcome: 'accepted', finalizedOn: dayTold } },
    })
    expect(JSON.stringify(verdict)).not.toContain(payerA)
    // No part of the statement, decoded or not, has what only the provider may see.
    const parts = issued.statement
      .split(/[.~]/)
      .map((part) => Buffer.from(part, 'base64url').toString('latin1'))
    for (const secret of [minted.finalized?.mint.txHash, deployment.treasury, `${noon + 61}`]) {
      expect(parts.join()).not.toContain(String(secret))
    }
  })

  it('are receipts and totals as well', async () => {
    const { issuer, statements, now } = await world()
    const receipt = taken(await statements.receipt(payer, seen(payer, now()), request))
    expect(await verify(textOf(receipt), issuer, now())).toMatchObject({
      statement: { kind: 'finality', claims: { leafIndex: '1' } },
    })
    const totals = { accepted: { payments: 2, amount: 7n }, late: { payments: 0, amount: 0n } }
    const total = taken(
      await statements.stateTotal(payer, totals, { since: noon, until: nextMidnight }, request),
    )
    expect(await verify(textOf(total), issuer, now())).toMatchObject({
      statement: { kind: 'total', claims: { accepted: '7', latePayments: 0 } },
    })
  })

  it('stay valid after a rotation, with the manifest of before and with the new one', async () => {
    const { issuer, statements, prove, pass, now } = await world()
    const old = textOf(await prove())
    pass(day)
    const rotated = await rotateIssuer({
      folder: issuer.folder,
      overlapMinutes: 1,
      days: 400,
      now: now(),
      random: systemRandom,
    })
    pass(120)
    const fresh = textOf(await prove())
    const papers = {
      manifests: [taken(statements.manifest())],
      revocations: [taken(await statements.revocations())],
    }
    expect(await verify(old, issuer, now())).toMatchObject({ ok: true })
    expect(await verify(old, issuer, now(), papers)).toMatchObject({
      ok: true,
      statement: { kid: issuer.kid, manifestSeq: 2 },
    })
    expect(await verify(fresh, issuer, now())).toMatchObject({ ok: true, statement: { kid: rotated.kid } })
    expect(
      await verify(fresh, issuer, now(), { manifests: [parseStatementFile(old).manifest ?? ''] }),
    ).toMatchObject({ reason: 'statement_key_unknown' })
  })

  it('end with their key when it is revoked, and the issuer signs nothing more until it has another', async () => {
    const { issuer, statements, prove, pass, now, warnings } = await world()
    const old = textOf(await prove())
    const revoked = await revokeIssuerKey({ folder: issuer.folder, keyId: issuer.kid, now: now() })
    pass(10)
    expect(await statements.statePayment(payer, seen(payer, now()), request)).toMatchObject({
      reason: 'issuer_unavailable',
    })
    // Holders of a statement of the revoked key can still learn of it.
    const newest = { manifests: [taken(statements.manifest())] }
    expect(newest.manifests).toEqual([readFileSync(revoked.files.manifest, 'utf8').trim()])
    expect(warnings).toContainEqual({
      event: 'issuer.failed',
      err: expect.objectContaining({ message: expect.stringContaining('is revoked') }),
    })
    expect(await statements.revocations()).toMatchObject({ ok: false })
    expect(await verify(old, issuer, now(), newest)).toMatchObject({ reason: 'statement_key_revoked' })
    await rotateIssuer({
      folder: issuer.folder,
      overlapMinutes: 0,
      days: 400,
      now: now(),
      random: systemRandom,
    })
    pass(10)
    expect(await verify(textOf(await prove()), issuer, now())).toMatchObject({ ok: true })
    expect(await verify(old, issuer, now(), { manifests: [taken(statements.manifest())] })).toMatchObject({
      reason: 'statement_key_revoked',
    })
  })

  it('end one by one when they are revoked, within seconds, and leave the list when they have expired', async () => {
    const { issuer, statements, prove, pass, now } = await world()
    const [one, other] = [await prove(), await prove()]
    const expiresAt = (await expiryOf(issuer.settings.artifactPath, one.jti)) ?? 0
    expect(expiresAt).toBe(one.expiresAt)
    await revoke(issuer.settings.artifactPath, one.jti, expiresAt)
    await revoke(issuer.settings.artifactPath, one.jti, expiresAt)
    pass(limits.revocationsFreshMs / 1_000)
    const papers = { revocations: [taken(await statements.revocations())] }
    expect(await verify(textOf(one), issuer, now(), papers)).toMatchObject({ reason: 'statement_revoked' })
    expect(await verify(textOf(other), issuer, now(), papers)).toMatchObject({ ok: true })
    pass(30 * day)
    const [, payload = ''] = taken(await statements.revocations()).split('.')
    expect(JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')).revoked).toEqual([])
  })

  it('expire, and so does the list of revocations, sooner', async () => {
    const { issuer, statements, prove, pass, now } = await world()
    const text = textOf(await prove())
    pass(limits.revocationsLifetimeSeconds)
    expect(await verify(text, issuer, now())).toMatchObject({ reason: 'revocations_stale' })
    expect(
      await verify(text, issuer, now(), { revocations: [taken(await statements.revocations())] }),
    ).toMatchObject({ ok: true })
    pass(30 * day)
    expect(
      await verify(text, issuer, now(), { revocations: [taken(await statements.revocations())] }),
    ).toMatchObject({ reason: 'statement_expired' })
  })

  it('are refused where there is nothing to prove, or not yet, or to others', async () => {
    const { statements, now } = await world()
    const unpaid = historyPaymentOf(2, { accepted: false })
    const totals = { accepted: { payments: 0, amount: 0n }, late: { payments: 0, amount: 0n } }
    const refusals = await Promise.all([
      statements.statePayment(provider, seen(provider, now(), unpaid), request),
      statements.receipt(payer, seen(payer, now(), historyPaymentOf(3)), request),
      statements.receipt(provider, seen(provider, now()), request),
      // Another daemon may still record a payment of its last seconds.
      statements.stateTotal(payer, totals, { since: 0, until: now() - 59 }, request),
      statements.stateTotal(payer, totals, { since: 5, until: 5 }, request),
      statements.statePayment(payer, seen(payer, now()), { audience: 'two words' }),
    ])
    expect(refusals.map((refusal) => refusal.ok || refusal.reason)).toEqual([
      'nothing_to_state',
      'finality_not_told',
      'burn_not_disclosed',
      'period_not_over',
      'period_not_over',
      'malformed_request',
    ])
    const over = { since: 0, until: now() - 60 }
    expect(await statements.stateTotal(payer, totals, over, request)).toMatchObject({ ok: true })
  })

  it('are limited for each participant, so that none can fill the disk', async () => {
    const { statements, prove, pass, now } = await world({ statementsPerHourMax: 4 })
    for (let made = 0; made < 4; made += 1) await prove()
    await expect(prove()).rejects.toThrow('too_many_requests')
    expect(await statements.statePayment(provider, seen(provider, now()), request)).toMatchObject({
      ok: true,
    })
    pass(3_600)
    await prove()
  })
})

const filesIn = (root: string) =>
  readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) =>
    statSync(join(root, name)).isFile(),
  )

describe('artifacts', () => {
  it('are there, whole and for the operator alone, before anybody has the statement', async () => {
    const { issuer, prove, now } = await world()
    const issued = await prove()
    const root = issuer.settings.artifactPath
    expect(filesIn(root)).toEqual([join(issued.jti.slice(0, 2), `${issued.jti}.json`)])
    const [file = ''] = filesIn(root).map((name) => join(root, name))
    const artifact = JSON.parse(readFileSync(file, 'utf8'))
    expect(artifact).toMatchObject({
      v: 1,
      jti: issued.jti,
      kind: 'payment',
      role: 'payer',
      audience: request.audience,
    })
    expect(await verify(JSON.stringify(artifact.file), issuer, now())).toMatchObject({ ok: true })
    expect([statSync(file).mode & 0o077, statSync(root).mode & 0o077]).toEqual([0, 0])
  })

  it('are not there when the disk refuses, and then nobody gets the statement', async () => {
    const { issuer, prove, warnings } = await world()
    const root = issuer.settings.artifactPath
    // Files in the places of its folders.
    for (let shard = 0; shard < 256; shard += 1)
      writeFileSync(join(root, shard.toString(16).padStart(2, '0')), '')
    await expect(prove()).rejects.toMatchObject({ code: 'ledger_failed' })
    expect(warnings).toEqual([
      {
        event: 'issuer.failed',
        err: expect.objectContaining({
          message: expect.stringMatching(/^HISTORY_ARTIFACT_PATH: .* EEXIST/),
        }),
      },
    ])
  })

  it('say nothing about revocations while their disk is away: an empty list would take all of them back', async () => {
    const { issuer, prove, statements, pass, warnings } = await world()
    const root = issuer.settings.artifactPath
    const { jti, expiresAt } = await prove()
    await revoke(root, jti, expiresAt)
    // An unmounted disk leaves an empty folder.
    renameSync(root, `${root}.away`)
    mkdirSync(root)
    pass(3_600)
    await expect(statements.revocations()).rejects.toMatchObject({ code: 'ledger_failed' })
    await expect(prove()).rejects.toMatchObject({ code: 'ledger_failed' })
    expect(readdirSync(root)).toEqual([])
    expect(warnings).toContainEqual({
      event: 'issuer.failed',
      err: expect.objectContaining({
        message: expect.stringContaining(`${root} cannot be used: the folder is not the one that was opened`),
      }),
    })
    rmdirSync(root)
    renameSync(`${root}.away`, root)
    const [, payload = ''] = taken(await statements.revocations()).split('.')
    expect(JSON.parse(`${Buffer.from(payload, 'base64url')}`)).toMatchObject({ revoked: [jti] })
  })

  it('are whole after a kill at any moment, and what was half written is gone at the next start', async () => {
    const { issuer, now } = await world()
    const script = runScript(`
      import { createStatements } from ${builtModule('history/statements/statements')}
      import { systemRandom } from ${builtModule('system')}
      const statements = await createStatements({
        settings: ${JSON.stringify(issuer.settings)},
        money: ${JSON.stringify(money)},
        clock: { now: () => ${now() * 1_000} },
        random: systemRandom,
        log() {},
      })
      const totals = { accepted: { payments: 1, amount: 1n }, late: { payments: 0, amount: 0n } }
      const sight = ${JSON.stringify(payer)}
      for (;;) {
        const { value } = await statements.stateTotal(sight, totals, { since: 1, until: 2 }, { audience: 'a' })
        process.stdout.write(value.jti + '\\n')
      }
    `)
    await script.said()
    script.kill()
    await script.ended
    const root = issuer.settings.artifactPath
    mkdirSync(join(root, 'unfinished'), { recursive: true })
    writeFileSync(join(root, 'unfinished', 'half'), '{"v":1,')
    await createStatements({
      settings: issuer.settings,
      money,
      clock: { now: () => now() * 1_000 },
      random: systemRandom,
      log: () => undefined,
    })
    const kept = filesIn(root)
    expect(kept.length).toBeGreaterThan(0)
    for (const name of kept) {
      const { file } = JSON.parse(readFileSync(join(root, name), 'utf8'))
      expect(
        await verify(JSON.stringify(file), issuer, now(), { audience: 'a', nonce: undefined }),
      ).toMatchObject({ ok: true })
    }
  })
})
