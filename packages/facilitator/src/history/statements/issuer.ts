/**
 * The statement issuer's key and papers. They must belong together, or nothing is signed: a statement that no verifier believes is
 * worse than none.
 */
import { readFileSync, statSync } from 'node:fs'
import { type Clock, SvcError } from '@svc-zerc20/protocol'
import {
  type IssuerKey,
  type Manifest,
  type PublicJwk,
  parsePrivateKey,
  parseTrustAnchor,
  readManifest,
  type SigningKey,
} from '@svc-zerc20/statement'
import { describe, type Finding, isFailure } from '../../config/finding.js'
import { limits } from '../../config/limits.js'
import type { IssuerSettings } from '../../config/secrets/history.js'
import { dayOf } from '../scopes.js'

/** A key that may sign now, and the manifest that says so. */
export type Issuer = {
  readonly id: string
  readonly kid: string
  readonly key: SigningKey
  /** As it is signed by the trust anchor. */
  readonly manifest: string
  readonly trustAnchor: PublicJwk
}

export type Examined = {
  readonly issuer: Issuer | undefined
  /** The manifest where it is good, also one that says that our own key is revoked: verifiers have to learn that. */
  readonly manifest?: string | undefined
  readonly findings: readonly Finding[]
}

type Say = (level: 'warn' | 'fail', key: string, message: string) => void

const variables = {
  key: 'HISTORY_ISSUER_PRIVATE_KEY_PATH',
  manifest: 'HISTORY_ISSUER_MANIFEST_PATH',
  anchor: 'HISTORY_ISSUER_TRUST_ANCHOR_PATH',
  id: 'HISTORY_ISSUER_ID',
  keyId: 'HISTORY_ISSUER_KEY_ID',
} as const

/** Everything that is wrong with the issuer's files at this time (unix seconds). Only reads. */
export function examineIssuer(settings: IssuerSettings, now: number): Examined {
  const findings: Finding[] = []
  const say: Say = (level, key, message) => findings.push({ level, key, message })
  const key = readPart(settings.privateKeyPath, variables.key, parsePrivateKey, say)
  const anchor = readPart(settings.trustAnchorPath, variables.anchor, parseTrustAnchor, say)
  const text = readPart(settings.manifestPath, variables.manifest, (found) => found.trim(), say)
  if (anchor === undefined || text === undefined) return { issuer: undefined, findings }
  const manifest = reading(variables.manifest, () => readManifest(text, anchor, now), say)
  if (manifest === undefined) return { issuer: undefined, findings }
  if (key === undefined) return { issuer: undefined, manifest: text, findings }
  const row = judgeManifest(settings, manifest, key, now, say)
  if (row === undefined || findings.some(isFailure)) return { issuer: undefined, manifest: text, findings }
  return {
    issuer: { id: manifest.iss, kid: row.kid, key, manifest: text, trustAnchor: anchor },
    manifest: text,
    findings,
  }
}

/** The row of the manifest that the key belongs to. */
function judgeManifest(
  { id, keyId }: IssuerSettings,
  manifest: Manifest,
  key: SigningKey,
  now: number,
  say: Say,
): IssuerKey | undefined {
  if (id !== undefined && id !== manifest.iss) {
    say('fail', variables.id, `is ${id}, but the manifest is of the issuer ${manifest.iss}`)
  }
  const row = manifest.keys.find(({ jwk }) => jwk.x === key.publicJwk.x)
  if (row === undefined) {
    say(
      'fail',
      variables.key,
      'the manifest does not have this key; svc-facilitator history issuer rotate makes a new one',
    )
    return undefined
  }
  if (keyId !== undefined && keyId !== row.kid) {
    say('fail', variables.keyId, `is ${keyId}, but the manifest calls the private key ${row.kid}`)
  }
  const wrong = wrongNow(row, now)
  if (wrong !== undefined) say('fail', variables.key, `the key ${row.kid} ${wrong}`)
  if (manifest.exp < now + limits.manifestEndWarningSeconds) {
    say(
      'warn',
      variables.manifest,
      `ends on ${dayOf(manifest.exp)}; svc-facilitator history issuer rotate makes a new one`,
    )
  }
  return row
}

function wrongNow({ nbf, exp, revokedAt }: IssuerKey, now: number): string | undefined {
  if (revokedAt !== undefined) return 'is revoked; svc-facilitator history issuer rotate makes a new one'
  if (now < nbf) return `is not valid before ${dayOf(nbf)}`
  if (exp !== undefined && now >= exp) return 'was retired; set the path of its successor'
  return undefined
}

function readPart<T>(path: string, variable: string, parse: (text: string) => T, say: Say): T | undefined {
  return reading(
    variable,
    () => {
      const { size } = statSync(path)
      if (size > limits.issuerFileBytesMax) throw new SvcError('issuer_unusable', `${path} is too large`)
      return parse(readFileSync(path, 'utf8'))
    },
    say,
  )
}

/** Errors of the file system name path and cause. Errors of the parsers never hold what they read. */
function reading<T>(variable: string, work: () => T, say: Say): T | undefined {
  try {
    return work()
  } catch (error) {
    say('fail', variable, (error as Error).message)
    return undefined
  }
}

/**
 * Throws `SvcError('issuer_unusable')` when nothing can be signed: the daemon does not start half. Its methods throw the same
 * when the files became bad since.
 */
export function openIssuer(settings: IssuerSettings, clock: Pick<Clock, 'now'>) {
  let examinedAt = Number.NEGATIVE_INFINITY
  let examined: Examined = { issuer: undefined, findings: [] }
  /** Reads the files again now and then, so that a rotation needs no restart. */
  const current = (): Examined => {
    const now = clock.now()
    if (now - examinedAt >= limits.issuerPollMs || now < examinedAt) {
      examined = examineIssuer(settings, Math.floor(now / 1_000))
      examinedAt = now
    }
    return examined
  }
  const unusable = ({ findings }: Examined) =>
    new SvcError('issuer_unusable', findings.filter(isFailure).map(describe).join('\n'))
  const port = {
    current(): Issuer {
      const { issuer } = current()
      if (issuer) return issuer
      throw unusable(examined)
    },
    /** The newest manifest, also while nothing can be signed. */
    manifest(): string {
      const { manifest } = current()
      if (manifest !== undefined) return manifest
      throw unusable(examined)
    },
  }
  port.current()
  return port
}
