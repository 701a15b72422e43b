/** A statement issuer for tests: its files in a folder of the test's own. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseTrustAnchor } from '@svc-zerc20/statement'
import type { IssuerSettings } from '../src/config/secrets/history.js'
import { initIssuer, type Written } from '../src/history/statements/issuer-files.js'
import { systemRandom } from '../src/system.js'
import { temporaryFolder } from './folder.js'

export const issuerName = 'https://pay.example'

export type TestIssuer = Written & {
  readonly folder: string
  readonly settings: IssuerSettings
  readonly trustAnchor: ReturnType<typeof parseTrustAnchor>
}

export const settingsOf = ({ files }: Pick<Written, 'files'>, artifactPath: string): IssuerSettings => ({
  privateKeyPath: files.key,
  manifestPath: files.manifest,
  trustAnchorPath: files.anchor,
  artifactPath,
  statementTtlSeconds: 30 * 86_400,
})

/** Made at this time, in unix seconds. */
export async function issuerOf(now: number): Promise<TestIssuer> {
  const folder = temporaryFolder()
  const written = await initIssuer({ folder, issuer: issuerName, days: 400, now, random: systemRandom })
  return {
    ...written,
    folder,
    settings: settingsOf(written, join(folder, 'statements')),
    trustAnchor: parseTrustAnchor(readFileSync(written.files.anchor, 'utf8')),
  }
}
