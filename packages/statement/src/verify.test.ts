/** Statements that are believed, and every way to forge, bend or reuse one. */
import { createHash, createHmac } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { signStatement } from './issue.js'
import { signJws } from './jws.js'
import { parseTrustAnchor, thumbprintOf } from './keys.js'
import { type StatementContent, statementKinds } from './kinds.js'
import { type IssuerKey, type Manifest, signManifest } from './manifest.js'
import { presentStatement } from './present.js'
import { signRevocations } from './revocations.js'
import { makePrivateKey, parsePrivateKey, type SigningKey } from './signing-key.js'
import { type StatementReason, statementReasons } from './statement-error.js'
import { parseStatementFile, printStatementFile } from './statement-file.js'
import { type Verification, verifyStatement } from './verify.js'

const keyNo = (number: number): SigningKey => parsePrivateKey(makePrivateKey(Buffer.alloc(32, number)))
const [anchor, key, otherKey, otherAnchor] = [keyNo(1), keyNo(2), keyNo(3), keyNo(4)]
const [kid, otherKid] = [thumbprintOf(key.publicJwk), thumbprintOf(otherKey.publicJwk)]
const iss = 'https://pay.example'
const aud = 'https://auditor.example'
const now = 1_800_000_000
const day = 86_400

let salts = 0
/** Salts that never repeat. */
const random = { bytes: (length: number) => Buffer.alloc(length, `${salts++}-`) }

const content: StatementContent<'payment'> = {
  kind: 'payment',
  open: { network: 'eip155:31337', token: `0x${'ab'.repeat(20)}`, role: 'payer', outcome: 'accepted' },
  hidden: {
    challengeNonce: `0x${'01'.repeat(32)}`,
    amount: '1000',
    value: '1000',
    acceptedAt: now - 3 * day,
    burnTransaction: `0x${'02'.repeat(32)}`,
    leafIndex: '7',
    payer: `0x${'cd'.repeat(20)}`,
    finalizedOn: '2027-01-12',
  },
}
const issuing = {
  key,
  kid,
  issuer: iss,
  audience: aud,
  issuedAt: now - 10,
  expiresAt: now + 30 * day,
  jti: 'jti-1',
  random,
}
const issued = (changes: Partial<Parameters<typeof signStatement>[1]> = {}) =>
  signStatement(content, { ...issuing, ...changes })

const keyRow = (row: Partial<IssuerKey> = {}): IssuerKey => ({
  kid,
  jwk: key.publicJwk,
  nbf: now - 100 * day,
  ...row,
})
const manifestOf = (changes: Partial<Manifest> = {}, signer = anchor): string =>
  signManifest(signer, {
    iss,
    seq: 3,
    iat: now - 100 * day,
    exp: now + 200 * day,
    keys: [keyRow()],
    ...changes,
  })
const listOf = (changes: object = {}, signer = key, name = kid): string =>
  signRevocations(signer, name, { iss, iat: now - 100, exp: now + day, revoked: [], ...changes })

const how = (changes: Partial<Verification> = {}): Verification => ({
  trustAnchor: anchor.publicJwk,
  manifests: [manifestOf()],
  revocations: [listOf()],
  now,
  audience: aud,
  ...changes,
})

/** The neutral point of the curve, as a key. */
const identity = Buffer.alloc(32).fill(1, 0, 1).toString('base64url')

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const decoded = (text = '') => JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
/** The token of a statement and its disclosures. */
const split = (statement: string) => {
  const [token = '', ...rest] = statement.split('~')
  return { token, disclosures: rest.slice(0, -1) }
}
const join = (token: string, disclosures: readonly string[]) => [token, ...disclosures, ''].join('~')
/** The same statement with another header or payload, signed again by the key unless told otherwise. */
function rewritten(
  statement: string,
  change: { header?: object; payload?: object },
  sign: (text: string) => string = key.sign,
) {
  const { token, disclosures } = split(statement)
  const [header, payload] = token.split('.').map((part, place) => (place < 2 ? decoded(part) : undefined))
  const text = `${encoded({ ...header, ...change.header })}.${encoded({ ...payload, ...change.payload })}`
  return join(`${text}.${sign(text)}`, disclosures)
}
/** The same statement with one disclosure more, whose digest the issuer's key signed. */
function withSigned(statement: string, ...disclosures: readonly string[]) {
  const { token, disclosures: before } = split(statement)
  const digests = disclosures.map((text) => Buffer.from(sha256(text)).toString('base64url'))
  const payload = decoded(token.split('.')[1])
  const signed = split(rewritten(statement, { payload: { _sd: [...payload._sd, ...new Set(digests)] } }))
  return join(signed.token, [...before, ...disclosures])
}
const sha256 = (text: string) => createHash('sha256').update(text).digest()
const disclosureOf = (name: unknown, value: unknown) => encoded(['c2FsdA', name, value])
const changedLast = (text: string) => text.slice(0, -3) + (text.at(-3) === 'A' ? 'B' : 'A') + text.slice(-2)

describe('a statement that is believed', () => {
  it('says who made it, for whom, and what it tells', async () => {
    const verdict = await verifyStatement(await issued({ nonce: 'n-1' }), how({ nonce: 'n-1' }))
    expect(verdict).toEqual({
      ok: true,
      statement: {
        kind: 'payment',
        issuer: iss,
        kid,
        jti: 'jti-1',
        issuedAt: now - 10,
        expiresAt: now + 30 * day,
        audience: aud,
        nonce: 'n-1',
        claims: { ...content.open, ...content.hidden },
        undisclosed: [
          'issuedAt',
          ...[
            'lateAt',
            'lateReason',
            'listPrice',
            'fee',
            'treasury',
            'mintTransaction',
            'minted',
            'finalizedAt',
          ],
        ],
        manifestSeq: 3,
        revocationsAt: now - 100,
      },
    })
  })

  it('tells only what its holder discloses, and no text of it holds the rest', async () => {
    const statement = await presentStatement(await issued(), ['value', 'finalizedOn'])
    const verdict = await verifyStatement(statement, how({ required: ['value'] }))
    expect(verdict).toMatchObject({
      ok: true,
      statement: { claims: { ...content.open, value: '1000', finalizedOn: '2027-01-12' } },
    })
    const text = statement
      .split(/[.~]/)
      .map((part) => Buffer.from(part, 'base64url').toString('latin1'))
      .join()
    expect(text).not.toContain(content.hidden.payer)
    expect(text).not.toContain('burnTransaction')
    await expect(presentStatement(statement, ['payer'])).rejects.toThrow('it can disclose value, finalizedOn')
    const { token, disclosures } = split(statement)
    const strange = join(token, [...disclosures, disclosureOf('\u001b[2J', '1')])
    await expect(presentStatement(strange, ['payer'])).rejects.toThrow(statementReasons.disclosure_malformed)
  })

  it('has the same number of digests whatever it hides', async () => {
    const digestsOf = (statement: string) => decoded(split(statement).token.split('.')[1])._sd
    const small = await signStatement({ ...content, hidden: {} }, issuing)
    expect(digestsOf(small)).toHaveLength(statementKinds.payment.digests)
    expect(digestsOf(await issued())).toHaveLength(statementKinds.payment.digests)
  })

  it('has room for every claim of its kind', () => {
    for (const { hidden, digests } of Object.values(statementKinds)) {
      expect(Object.keys(hidden).length).toBeLessThanOrEqual(digests)
    }
  })

  it('goes through a file, and a bare statement with its manifest works as well', async () => {
    const file = { statement: await issued(), manifest: manifestOf(), revocations: listOf() }
    expect(parseStatementFile(printStatementFile(file))).toEqual(file)
    expect(parseStatementFile(`${file.statement}\n`)).toEqual({ statement: file.statement })
    expect(parseTrustAnchor(JSON.stringify({ ...anchor.publicJwk, kid: 'x' }))).toEqual(anchor.publicJwk)
  })

  it('stays valid after its key was retired, and takes the newest manifest and list of several', async () => {
    const retired = manifestOf({
      seq: 4,
      keys: [keyRow({ exp: now }), keyRow({ kid: otherKid, jwk: otherKey.publicJwk, nbf: now })],
    })
    const expired = manifestOf({ exp: now - 1 })
    const statement = await issued()
    expect(
      await verifyStatement(
        statement,
        how({ manifests: [manifestOf(), expired, retired], manifestSeqMin: 4 }),
      ),
    ).toMatchObject({ ok: true, statement: { manifestSeq: 4 } })
    const newest = listOf({ iat: now - 1, revoked: ['jti-1'] })
    expect(await verifyStatement(statement, how({ revocations: [listOf(), newest] }))).toMatchObject({
      reason: 'statement_revoked',
    })
    const unchecked = await verifyStatement(statement, how({ revocations: 'unchecked' }))
    expect(unchecked.ok).toBe(true)
    expect(unchecked).not.toHaveProperty('statement.revocationsAt')
  })
})

type Case = {
  readonly what: string
  readonly reason: StatementReason
  readonly statement?: () => string | Promise<string>
  readonly by?: () => Partial<Verification>
}
let good: string
beforeAll(async () => {
  good = await issued()
})

const cases: Case[] = [
  { what: 'an empty text', reason: 'statement_malformed', statement: () => '' },
  {
    what: 'a token without a disclosure part',
    reason: 'statement_malformed',
    statement: () => split(good).token,
  },
  { what: 'the last separator dropped', reason: 'disclosure_malformed', statement: () => `${good}~` },
  {
    what: 'a token of two parts',
    reason: 'statement_malformed',
    statement: () => join(split(good).token.split('.').slice(0, 2).join('.'), []),
  },
  {
    what: 'padded base64',
    reason: 'statement_malformed',
    statement: () => join(`${split(good).token}==`, []),
  },
  {
    what: 'a statement of a megabyte',
    reason: 'statement_too_large',
    statement: () => `${good}${'A'.repeat(1_000_000)}`,
  },
  {
    what: 'hundreds of disclosures',
    reason: 'statement_too_large',
    statement: () => join(split(good).token, new Array(65).fill('W10')),
  },
  {
    what: 'a tampered header',
    reason: 'statement_signature',
    statement: () =>
      rewritten(good, { header: {}, payload: {} }, () => split(good).token.split('.')[2] ?? '').replace(
        /^[^.]*/,
        encoded({ kid, alg: 'EdDSA', typ: 'dc+sd-jwt' }),
      ),
  },
  {
    what: 'a tampered payload',
    reason: 'statement_signature',
    statement: () =>
      rewritten(good, { payload: { exp: now + 900 * day } }, () => split(good).token.split('.')[2] ?? ''),
  },
  {
    what: 'a tampered signature',
    reason: 'statement_signature',
    statement: () => join(changedLast(split(good).token), split(good).disclosures),
  },
  {
    what: 'a signature of another key under this name',
    reason: 'statement_signature',
    statement: () => rewritten(good, {}, otherKey.sign),
  },
  {
    what: 'alg none',
    reason: 'statement_algorithm',
    statement: () => rewritten(good, { header: { alg: 'none' } }, () => ''),
  },
  {
    what: 'HS256 with the public key as the secret',
    reason: 'statement_algorithm',
    statement: () =>
      rewritten(good, { header: { alg: 'HS256' } }, (text) =>
        createHmac('sha256', Buffer.from(key.publicJwk.x, 'base64url')).update(text).digest('base64url'),
      ),
  },
  {
    what: 'alg in another case',
    reason: 'statement_algorithm',
    statement: () => rewritten(good, { header: { alg: 'eddsa' } }),
  },
  {
    what: 'an identity token instead of a statement',
    reason: 'statement_type',
    statement: () => rewritten(good, { header: { typ: 'JWT' } }),
  },
  {
    what: 'a key in the header',
    reason: 'statement_header',
    statement: () => rewritten(good, { header: { jwk: otherKey.publicJwk } }, otherKey.sign),
  },
  {
    what: 'a critical extension',
    reason: 'statement_header',
    statement: () => rewritten(good, { header: { crit: ['exp'] } }),
  },
  {
    what: 'an unknown kid',
    reason: 'statement_key_unknown',
    statement: () => rewritten(good, { header: { kid: 'nobody' } }),
  },
  {
    what: 'no kid',
    reason: 'statement_key_unknown',
    statement: () => rewritten(good, { header: { kid: undefined } }),
  },
  {
    what: 'a key that is in no manifest',
    reason: 'statement_key_unknown',
    statement: () => issued({ key: otherKey, kid: otherKid }),
  },
  {
    what: 'a revoked key',
    reason: 'statement_key_revoked',
    by: () => ({ manifests: [manifestOf({ keys: [keyRow({ revokedAt: now - 5 })] })] }),
  },
  {
    what: 'a revoked key and a time before its revocation',
    reason: 'statement_key_revoked',
    by: () => ({ manifests: [manifestOf({ keys: [keyRow({ revokedAt: now + 5 })] })] }),
  },
  {
    what: 'a key that was not valid yet',
    reason: 'statement_key_not_yet_valid',
    by: () => ({ manifests: [manifestOf({ keys: [keyRow({ nbf: now - 9 })] })] }),
  },
  {
    what: 'a key that was retired before',
    reason: 'statement_key_retired',
    by: () => ({ manifests: [manifestOf({ keys: [keyRow({ exp: now - 10 })] })] }),
  },
  { what: 'an expired statement', reason: 'statement_expired', statement: () => issued({ expiresAt: now }) },
  {
    what: 'iat in the future',
    reason: 'statement_not_yet_valid',
    statement: () => issued({ issuedAt: now + 61 }),
  },
  {
    what: 'no iat',
    reason: 'statement_incomplete',
    statement: () => rewritten(good, { payload: { iat: undefined } }),
  },
  {
    what: 'no exp',
    reason: 'statement_incomplete',
    statement: () => rewritten(good, { payload: { exp: undefined } }),
  },
  {
    what: 'exp as a text',
    reason: 'statement_incomplete',
    statement: () => rewritten(good, { payload: { exp: '9999999999' } }),
  },
  {
    what: 'no jti, so that it could not be revoked',
    reason: 'statement_incomplete',
    statement: () => rewritten(good, { payload: { jti: undefined } }),
  },
  {
    what: 'a list of audiences',
    reason: 'statement_incomplete',
    statement: () => rewritten(good, { payload: { aud: [aud, 'other'] } }),
  },
  {
    what: 'an audience that writes to the terminal',
    reason: 'statement_incomplete',
    statement: () => rewritten(good, { payload: { aud: '\u001b[2J' } }),
  },
  {
    what: 'another audience',
    reason: 'statement_audience',
    by: () => ({ audience: 'https://other.example' }),
  },
  { what: 'a nonce that is missing', reason: 'statement_nonce_missing', by: () => ({ nonce: 'n-1' }) },
  {
    what: 'a replayed nonce',
    reason: 'statement_nonce',
    statement: () => issued({ nonce: 'n-0' }),
    by: () => ({ nonce: 'n-1' }),
  },
  {
    what: 'another issuer',
    reason: 'statement_issuer',
    statement: () => issued({ issuer: 'https://evil.example' }),
  },
  {
    what: 'another kind of credential',
    reason: 'statement_kind',
    statement: () => rewritten(good, { payload: { vct: 'https://example.com/licence' } }),
  },
  {
    what: 'a name of Object.prototype as the kind',
    reason: 'statement_kind',
    statement: () => rewritten(good, { payload: { vct: 'constructor' } }),
  },
  {
    what: 'a receipt made from a payment',
    reason: 'claim_unknown',
    statement: () => rewritten(good, { payload: { vct: statementKinds.finality.vct } }),
  },
  {
    what: 'a weaker hash',
    reason: 'statement_hash',
    statement: () => rewritten(good, { payload: { _sd_alg: 'sha-1' } }),
  },
  {
    what: 'the same digest twice',
    reason: 'statement_digests',
    statement: () => rewritten(good, { payload: { _sd: [encodedDigest(), encodedDigest()] } }),
  },
  {
    what: 'digests that are no list',
    reason: 'statement_digests',
    statement: () => rewritten(good, { payload: { _sd: 'all' } }),
  },
  {
    what: 'a key-binding token of somebody',
    reason: 'key_binding',
    statement: () => `${good}${signJws(otherKey, { typ: 'kb+jwt', kid: 'x' }, { aud })}`,
  },
  {
    what: 'a tampered disclosure',
    reason: 'disclosure_unknown',
    statement: () => join(split(good).token, [disclosureOf('value', '9999')]),
  },
  {
    what: 'a disclosure of another statement',
    reason: 'disclosure_unknown',
    statement: async () => join(split(good).token, split(await issued()).disclosures),
  },
  {
    what: 'a disclosure that is there twice',
    reason: 'disclosure_repeated',
    statement: () => join(split(good).token, [...split(good).disclosures, split(good).disclosures[0] ?? '']),
  },
  {
    what: 'two values of one claim',
    reason: 'disclosure_repeated',
    statement: () => withSigned(good, disclosureOf('value', '2')),
  },
  {
    what: 'a disclosure of an array',
    reason: 'disclosure_malformed',
    statement: () => join(split(good).token, [encoded(['salt', 'value'])]),
  },
  {
    what: 'a disclosure that is no JSON',
    reason: 'disclosure_malformed',
    statement: () => join(split(good).token, ['bm9wZQ']),
  },
  {
    what: 'a disclosure whose name is no text',
    reason: 'disclosure_malformed',
    statement: () => withSigned(good, disclosureOf(1, 'x')),
  },
  {
    what: 'a disclosure that replaces the expiry',
    reason: 'disclosure_forbidden',
    statement: () => withSigned(good, disclosureOf('exp', 9e9)),
  },
  {
    what: 'a disclosure that replaces the token',
    reason: 'disclosure_forbidden',
    statement: () => withSigned(good, disclosureOf('token', `0x${'00'.repeat(20)}`)),
  },
  {
    what: 'a disclosure of the prototype',
    reason: 'claim_unknown',
    statement: () => withSigned(good, disclosureOf('__proto__', '1')),
  },
  {
    what: 'a claim of no kind',
    reason: 'claim_unknown',
    statement: () => withSigned(good, disclosureOf('guilty', 'no')),
  },
  {
    what: 'a nested claim in the open',
    reason: 'claim_unknown',
    statement: () => rewritten(good, { payload: { more: { _sd: [] } } }),
  },
  ...(
    [
      ['a name that writes to the terminal', '\u001b[2J', '1'],
      ['a name of two lines', 'value\nwarning', '1'],
      ['a list as its value', 'fee', [['1']]],
      ['nothing as its value', 'fee', null],
    ] as const
  ).map(
    ([what, name, value]): Case => ({
      what: `a disclosure with ${what}`,
      reason: 'disclosure_malformed',
      statement: () => withSigned(good, disclosureOf(name, value)),
    }),
  ),
  {
    what: 'a time behind the last date there is',
    reason: 'claim_malformed',
    statement: () => withSigned(good, disclosureOf('lateAt', Number.MAX_SAFE_INTEGER)),
  },
  {
    what: 'an expiry behind the last date there is',
    reason: 'statement_incomplete',
    statement: () => rewritten(good, { payload: { exp: 253_402_300_800 } }),
  },
  {
    what: 'a claim of the wrong form',
    reason: 'claim_malformed',
    statement: () => withSigned(good, disclosureOf('fee', '-5')),
  },
  {
    what: 'an open claim of the wrong form',
    reason: 'claim_malformed',
    statement: () => rewritten(good, { payload: { network: 'eip155:0' } }),
  },
  ...(['network', 'token', 'role', 'outcome'] as const).map(
    (name): Case => ({
      what: `the open claim ${name} that is missing`,
      reason: 'claim_malformed',
      statement: () => rewritten(good, { payload: { [name]: undefined } }),
    }),
  ),
  {
    what: 'a claim that was asked for and dropped',
    reason: 'claim_hidden',
    statement: () => join(split(good).token, []),
    by: () => ({ required: ['value'] }),
  },
  {
    what: 'a nonce that is a number',
    reason: 'statement_incomplete',
    statement: () => rewritten(good, { payload: { nonce: 1 } }),
  },
  ...[{ iss: 'two words' }, { seq: '3' }, { iat: -1 }, { exp: 'never' }].map(
    (changes): Case => ({
      what: `a manifest with ${JSON.stringify(changes)}`,
      reason: 'manifest_malformed',
      by: () => ({ manifests: [manifestOf(changes as Partial<Manifest>)] }),
    }),
  ),
  ...[{ kid: '' }, { jwk: {} }, { nbf: 'now' }, { exp: 'late' }, { revokedAt: null }].map(
    (changes): Case => ({
      what: `a key of a manifest with ${JSON.stringify(changes)}`,
      reason: 'manifest_malformed',
      by: () => ({ manifests: [manifestOf({ keys: [keyRow(changes as object)] })] }),
    }),
  ),
  {
    what: 'a key of a manifest under which one signature fits every text',
    reason: 'manifest_malformed',
    by: () => ({ manifests: [manifestOf({ keys: [keyRow({ jwk: { ...key.publicJwk, x: identity } })] })] }),
    // Its signature is the neutral point and 0.
    statement: () =>
      rewritten(good, {}, () =>
        Buffer.concat([Buffer.from(identity, 'base64url'), Buffer.alloc(32)]).toString('base64url'),
      ),
  },
  {
    what: 'a key of a manifest that is nothing',
    reason: 'manifest_malformed',
    by: () => ({ manifests: [manifestOf({ keys: [keyRow(), null as never] })] }),
  },
  {
    what: 'a list of revocations that is no JWS',
    reason: 'revocations_malformed',
    by: () => ({ revocations: ['nothing is revoked'] }),
  },
  ...[{ iss: '' }, { iat: '1' }, { exp: 1.5 }, { revoked: 'none' }, { revoked: [{}] }].map(
    (changes): Case => ({
      what: `a list of revocations with ${JSON.stringify(changes)}`,
      reason: 'revocations_malformed',
      by: () => ({ revocations: [listOf(changes)] }),
    }),
  ),
  { what: 'no manifest', reason: 'manifest_missing', by: () => ({ manifests: [] }) },
  { what: 'a manifest that is none', reason: 'manifest_malformed', by: () => ({ manifests: ['{}'] }) },
  {
    what: 'a statement as the manifest',
    reason: 'manifest_malformed',
    by: () => ({ manifests: [split(good).token] }),
  },
  {
    what: 'a manifest without keys',
    reason: 'manifest_malformed',
    by: () => ({ manifests: [manifestOf({ keys: [] })] }),
  },
  {
    what: 'a manifest with one name for two keys',
    reason: 'manifest_malformed',
    by: () => ({ manifests: [manifestOf({ keys: [keyRow(), keyRow({ jwk: otherKey.publicJwk })] })] }),
  },
  {
    what: 'a manifest with two names for one key',
    reason: 'manifest_malformed',
    by: () => ({ manifests: [manifestOf({ keys: [keyRow({ revokedAt: 1 }), keyRow({ kid: 'again' })] })] }),
  },
  {
    what: 'a manifest of another anchor',
    reason: 'manifest_anchor',
    by: () => ({ manifests: [manifestOf({}, otherAnchor)] }),
  },
  {
    what: 'a manifest that another anchor signed under the name of this one',
    reason: 'manifest_signature',
    by: () => ({
      manifests: [
        signJws(
          otherAnchor,
          { typ: 'svc-issuer-manifest+jwt', kid: thumbprintOf(anchor.publicJwk) },
          { iss, seq: 9, iat: now, exp: now + 1, keys: [keyRow()] },
        ),
      ],
    }),
  },
  {
    what: 'an expired manifest',
    reason: 'manifest_expired',
    by: () => ({ manifests: [manifestOf({ exp: now })] }),
  },
  {
    what: 'a manifest of the future',
    reason: 'manifest_not_yet_valid',
    by: () => ({ manifests: [manifestOf({ iat: now + 61 })] }),
  },
  {
    what: 'a manifest older than one that is known',
    reason: 'manifest_old',
    by: () => ({ manifestSeqMin: 4 }),
  },
  {
    what: 'something else than a manifest where the verifier chose one, beside one that is good',
    reason: 'manifest_malformed',
    by: () => ({ manifests: ['{"error":"try again"}', manifestOf()] }),
  },
  {
    what: 'a chosen manifest that ended, beside an older one that has not',
    reason: 'manifest_expired',
    by: () => ({ manifests: [manifestOf({ seq: 4, exp: now }), manifestOf()] }),
  },
  {
    what: 'something else than a list where the verifier chose one, beside one that is good',
    reason: 'revocations_malformed',
    by: () => ({ revocations: ['{"error":"try again"}', listOf()] }),
  },
  { what: 'no list of revocations', reason: 'revocations_missing', by: () => ({ revocations: [] }) },
  {
    what: 'a list that is none',
    reason: 'revocations_malformed',
    by: () => ({ revocations: [manifestOf()] }),
  },
  {
    what: 'a list of another key',
    reason: 'revocations_key',
    by: () => ({ revocations: [listOf({}, otherKey, otherKid)] }),
  },
  {
    what: 'a list that another key signed under this name',
    reason: 'revocations_signature',
    by: () => ({ revocations: [listOf({}, otherKey)] }),
  },
  {
    what: 'a list of a revoked key beside the key of the statement',
    reason: 'revocations_key',
    by: () => ({
      manifests: [
        manifestOf({ keys: [keyRow(), keyRow({ kid: otherKid, jwk: otherKey.publicJwk, revokedAt: 1 })] }),
      ],
      revocations: [listOf({}, otherKey, otherKid)],
    }),
  },
  {
    what: 'a list of another issuer',
    reason: 'revocations_issuer',
    by: () => ({ revocations: [listOf({ iss: 'https://evil.example' })] }),
  },
  {
    what: 'a list of the future',
    reason: 'revocations_not_yet_valid',
    by: () => ({ revocations: [listOf({ iat: now + 61 })] }),
  },
  { what: 'a stale list', reason: 'revocations_stale', by: () => ({ revocations: [listOf({ exp: now })] }) },
  {
    what: 'a revoked statement',
    reason: 'statement_revoked',
    by: () => ({ revocations: [listOf({ revoked: ['x', 'jti-1'] })] }),
  },
]
const encodedDigest = () => Buffer.from(sha256('one')).toString('base64url')

describe('a statement that is not believed', () => {
  it.each(cases)('$what: $reason', async ({ reason, statement, by }) => {
    expect(await verifyStatement(good, how())).toMatchObject({ ok: true })
    const verdict = await verifyStatement(statement ? await statement() : good, how(by?.()))
    expect(verdict).toMatchObject({ ok: false, reason })
  })

  it('no changed character survives, wherever it is, and neither does one that is left out', async () => {
    for (let place = 0; place < good.length; place += 11) {
      const other = good[place] === 'A' ? 'B' : 'A'
      for (const changed of [
        good.slice(0, place) + other + good.slice(place + 1),
        good.slice(0, place) + good.slice(place + 1),
      ]) {
        expect(await verifyStatement(changed, how()), `at ${place}`).toMatchObject({ ok: false })
      }
    }
  })

  it('every reason is provoked', () => {
    const elsewhere = ['file_malformed', 'anchor_malformed']
    const missing = Object.keys(statementReasons).filter(
      (reason) => !cases.some((one) => one.reason === reason),
    )
    expect(missing).toEqual(elsewhere)
  })

  it.each([
    '{',
    '{}',
    '{"format":"svc-zerc20-statement/2","statement":""}',
    '{"format":"svc-zerc20-statement/1","statement":7}',
  ])('the file %s is none', (text) => {
    expect(() => parseStatementFile(text)).toThrow(statementReasons.file_malformed)
  })

  it.each([
    ['nothing', ''],
    ['a private key', JSON.stringify({ ...anchor.publicJwk, d: 'AA' })],
    ['another curve', JSON.stringify({ ...anchor.publicJwk, crv: 'X25519' })],
    ['a short key', JSON.stringify({ ...anchor.publicJwk, x: 'AA' })],
    ['a key under which one signature fits every text', JSON.stringify({ ...anchor.publicJwk, x: identity })],
    [
      'another one',
      JSON.stringify({
        ...anchor.publicJwk,
        x: Buffer.alloc(32, 0xff).fill(0xec, 0, 1).toString('base64url'),
      }),
    ],
  ])('%s is no trust anchor', (_, text) => {
    expect(() => parseTrustAnchor(text)).toThrow(statementReasons.anchor_malformed)
  })
})

describe('an issuer gives away nothing that would not be believed', () => {
  it.each<[string, Partial<StatementContent<'payment'>>]>([
    ['an amount with a sign', { hidden: { amount: '-1' } }],
    ['a claim without a value', { hidden: { payer: undefined } as never }],
    ['a claim of no kind', { hidden: { guilty: 'no' } as never }],
    [
      'an open claim that is missing',
      { open: { network: 'eip155:1', role: 'payer', outcome: 'accepted' } as never },
    ],
  ])('%s', (_, change) => {
    expect(() => signStatement({ ...content, ...change }, issuing)).toThrow('does not fit')
  })

  it('an audience with a space', () => {
    expect(() => issued({ audience: 'a b' })).toThrow('a name in the statement')
  })
})

describe('private keys', () => {
  it('are read as PEM and as JWK, and nothing else is, and no error holds one', () => {
    const pem = makePrivateKey(Buffer.alloc(32, 9))
    expect(parsePrivateKey(pem).publicJwk).toEqual(keyNo(9).publicJwk)
    const secret = Buffer.alloc(32, 9).toString('base64url')
    const jwk = { ...keyNo(9).publicJwk, d: secret }
    expect(parsePrivateKey(JSON.stringify(jwk)).publicJwk).toEqual(keyNo(9).publicJwk)
    const x25519 = JSON.stringify({ ...jwk, crv: 'X25519' })
    for (const text of ['', 'nope', pem.slice(0, 60), x25519, JSON.stringify(keyNo(9).publicJwk)]) {
      expect(() => parsePrivateKey(text)).toThrow(
        /^no private Ed25519 key, neither as PEM \(PKCS #8\) nor as JWK$/,
      )
    }
  })
})
