import { generateKeyPairSync } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { type Manifest, parsePrivateKey, signManifest } from '@svc-zerc20/statement'
import { describe, expect, it } from 'vitest'
import { issuerOf, type TestIssuer } from '../../../test/issuer.js'
import { format } from '../../config/finding.js'
import { limits } from '../../config/limits.js'
import type { IssuerSettings } from '../../config/secrets/history.js'
import { systemRandom } from '../../system.js'
import { examineIssuer, openIssuer } from './issuer.js'
import { revokeIssuerKey, rotateIssuer } from './issuer-files.js'

const now = 1_800_000_000
const day = 86_400

/** Signs the issuer's manifest again with these changes. */
function rewrite({ files, manifest }: TestIssuer, changes: Partial<Manifest>): void {
  const anchor = parsePrivateKey(readFileSync(files.anchorKey, 'utf8'))
  writeFileSync(files.manifest, signManifest(anchor, { ...manifest, ...changes }))
}

type Mismatch = {
  readonly what: string
  readonly line: RegExp
  readonly settings?: Partial<IssuerSettings>
  readonly spoil?: (issuer: TestIssuer) => unknown
}

const mismatches: Mismatch[] = [
  {
    what: 'a key that is missing',
    line: /^fail HISTORY_ISSUER_PRIVATE_KEY_PATH: ENOENT/,
    settings: { privateKeyPath: '/no/such' },
  },
  {
    what: 'a manifest that is missing',
    line: /^fail HISTORY_ISSUER_MANIFEST_PATH: ENOENT/,
    settings: { manifestPath: '/no/such' },
  },
  {
    what: 'an anchor that is missing',
    line: /^fail HISTORY_ISSUER_TRUST_ANCHOR_PATH: ENOENT/,
    settings: { trustAnchorPath: '/no/such' },
  },
  {
    what: 'a folder in the place of a key',
    line: /^fail HISTORY_ISSUER_PRIVATE_KEY_PATH: EISDIR/,
    settings: { privateKeyPath: '/' },
  },
  {
    what: 'a file without an end',
    line: /^fail HISTORY_ISSUER_MANIFEST_PATH: .* is too large/,
    spoil: ({ files }) => writeFileSync(files.manifest, 'x'.repeat(limits.issuerFileBytesMax + 1)),
  },
  {
    what: 'a private key of another kind',
    line: /^fail HISTORY_ISSUER_PRIVATE_KEY_PATH: no private Ed25519 key/,
    spoil: ({ files }) =>
      writeFileSync(
        files.key,
        generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
          format: 'pem',
          type: 'pkcs8',
        }),
      ),
  },
  {
    what: 'a public key in the place of the private one',
    line: /^fail HISTORY_ISSUER_PRIVATE_KEY_PATH: no private Ed25519 key/,
    spoil: ({ files }) => writeFileSync(files.key, readFileSync(files.anchor)),
  },
  {
    what: 'the key of the trust anchor in the place of the issuer’s',
    line: /^fail HISTORY_ISSUER_PRIVATE_KEY_PATH: the manifest does not have this key/,
    spoil: ({ files }) => writeFileSync(files.key, readFileSync(files.anchorKey)),
  },
  {
    what: 'a key of another issuer',
    line: /^fail HISTORY_ISSUER_PRIVATE_KEY_PATH: the manifest does not have this key/,
    spoil: async ({ files }) => writeFileSync(files.key, readFileSync((await issuerOf(now)).files.key)),
  },
  {
    what: 'a manifest of another anchor',
    line: /^fail HISTORY_ISSUER_MANIFEST_PATH: The manifest belongs to another trust anchor/,
    spoil: async ({ files }) =>
      writeFileSync(files.manifest, readFileSync((await issuerOf(now)).files.manifest)),
  },
  {
    what: 'an anchor that is another one’s',
    line: /^fail HISTORY_ISSUER_MANIFEST_PATH: The manifest belongs to another trust anchor/,
    spoil: async ({ files }) => writeFileSync(files.anchor, readFileSync((await issuerOf(now)).files.anchor)),
  },
  {
    what: 'an anchor that is private',
    line: /^fail HISTORY_ISSUER_TRUST_ANCHOR_PATH: The trust anchor is no public Ed25519 key/,
    spoil: ({ files }) => writeFileSync(files.anchor, readFileSync(files.anchorKey)),
  },
  {
    what: 'a manifest that was changed',
    line: /^fail HISTORY_ISSUER_MANIFEST_PATH: The manifest was not signed by the trust anchor/,
    spoil: ({ files }) =>
      writeFileSync(files.manifest, readFileSync(files.manifest, 'utf8').replace(/[^.]{4}\n$/, 'AAAA\n')),
  },
  {
    what: 'a manifest that has ended',
    line: /^fail HISTORY_ISSUER_MANIFEST_PATH: The manifest has expired/,
    spoil: (issuer) => rewrite(issuer, { exp: now }),
  },
  {
    what: 'another issuer id',
    line: /^fail HISTORY_ISSUER_ID: is https:\/\/other.example, but the manifest is of/,
    settings: { id: 'https://other.example' },
  },
  {
    what: 'another key id',
    line: /^fail HISTORY_ISSUER_KEY_ID: is key-9, but the manifest calls/,
    settings: { keyId: 'key-9' },
  },
  {
    what: 'a key id that belongs to another key of the manifest',
    line: /^fail HISTORY_ISSUER_KEY_ID: is old, but the manifest calls the private key [\w-]{43}/,
    settings: { keyId: 'old' },
    spoil: async (issuer) => {
      const [row] = issuer.manifest.keys
      if (row) rewrite(issuer, { keys: [{ ...row, kid: 'old' }] })
      await rotateIssuer({
        folder: issuer.folder,
        overlapMinutes: 60,
        days: 400,
        now,
        random: systemRandom,
      })
    },
  },
  {
    what: 'a revoked key',
    line: /^fail HISTORY_ISSUER_PRIVATE_KEY_PATH: the key .* is revoked/,
    spoil: ({ folder, kid }) => revokeIssuerKey({ folder, keyId: kid, now }),
  },
  {
    what: 'a key that is not valid yet',
    line: /^fail HISTORY_ISSUER_PRIVATE_KEY_PATH: the key .* is not valid before 2027-01-16/,
    spoil: (issuer) =>
      rewrite(issuer, { keys: issuer.manifest.keys.map((key) => ({ ...key, nbf: now + day })) }),
  },
  {
    what: 'a key that was retired',
    line: /^fail HISTORY_ISSUER_PRIVATE_KEY_PATH: the key .* was retired/,
    spoil: (issuer) => rewrite(issuer, { keys: issuer.manifest.keys.map((key) => ({ ...key, exp: now })) }),
  },
]

describe('the issuer', () => {
  it('R-086 is taken when key, manifest and anchor belong together, with the refinements that fit', async () => {
    const { settings, kid } = await issuerOf(now)
    expect(examineIssuer(settings, now).findings).toEqual([])
    const refined = { ...settings, id: 'https://pay.example', keyId: kid }
    expect(openIssuer(refined, { now: () => now * 1_000 }).current()).toMatchObject({
      id: 'https://pay.example',
      kid,
    })
  })

  it.each(mismatches)('R-086 signs nothing with $what', async ({ line, settings, spoil }) => {
    const issuer = await issuerOf(now)
    await spoil?.(issuer)
    const changed = { ...issuer.settings, ...settings }
    const { issuer: taken, findings } = examineIssuer(changed, now)
    expect(taken).toBeUndefined()
    expect(findings.map(format)).toEqual([expect.stringMatching(line)])
    expect(() => openIssuer(changed, { now: () => now * 1_000 })).toThrow(
      expect.objectContaining({ code: 'issuer_unusable' }),
    )
    expect(findings.map(format).join()).not.toContain('PRIVATE KEY-----')
  })

  it('names all of several pieces', () => {
    const settings = {
      privateKeyPath: '/a',
      manifestPath: '/b',
      trustAnchorPath: '/c',
      artifactPath: '/d',
      statementTtlSeconds: 1,
    }
    expect(examineIssuer(settings, now).findings).toHaveLength(3)
  })

  it('warns of a manifest that ends soon', async () => {
    const issuer = await issuerOf(now)
    rewrite(issuer, { exp: now + 29 * day })
    const { issuer: taken, findings } = examineIssuer(issuer.settings, now)
    expect(taken).toBeDefined()
    expect(findings.map(format)).toEqual([
      expect.stringMatching(/^warn HISTORY_ISSUER_MANIFEST_PATH: ends on 2027-02-13/),
    ])
  })

  it('changes over to a new key without a restart, and stops when its key is revoked', async () => {
    const { settings, folder, kid } = await issuerOf(now)
    let time = now * 1_000
    const port = openIssuer(settings, { now: () => time })
    const rotated = await rotateIssuer({ folder, overlapMinutes: 60, days: 400, now, random: systemRandom })
    expect(port.current().kid).toBe(kid)
    time += limits.issuerPollMs
    expect(port.current().kid).toBe(rotated.kid)
    await revokeIssuerKey({ folder, keyId: rotated.kid, now })
    time += limits.issuerPollMs
    expect(() => port.current()).toThrow('is revoked')
  })
})
