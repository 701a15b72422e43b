/** Statements for participants: a statement within their scope, signed, kept, and then handed over. */

import {
  accept,
  type Clock,
  CodedError,
  type ReasonCode,
  type Rejection,
  type Result,
  reject,
  SvcError,
  type UnixSeconds,
  unixSeconds,
} from '@svc-zerc20/protocol'
import {
  isName,
  type StatementContent,
  type StatementFile,
  signStatement,
  toStatementFile,
  verifyStatement,
} from '@svc-zerc20/statement'
import { limits } from '../../config/limits.js'
import type { IssuerSettings, ParticipantRole } from '../../config/secrets/history.js'
import type { Log } from '../../telemetry/events.js'
import type { SeenPayment, SeenTotals, Sight } from '../scopes.js'
import { openArtifacts } from './artifacts.js'
import { finalityStatement, type Money, type Period, paymentStatement, totalStatement } from './contents.js'
import { type Issuer, openIssuer } from './issuer.js'
import { createRevocationList } from './revocation-list.js'

/** For whom a statement is made. Another verifier refuses it. */
export type StatementRequest = { readonly audience: string; readonly nonce?: string | undefined }

/** A statement file, and two things about it. The answer, saved as it is, is a file that can be verified. */
export type SignedStatement = ReturnType<typeof toStatementFile<Required<StatementFile>>> & {
  readonly jti: string
  readonly expiresAt: UnixSeconds
}

export type Statements = {
  statePayment(sight: Sight, seen: SeenPayment, request: StatementRequest): Promise<Result<SignedStatement>>
  stateTotal(
    sight: Sight,
    totals: SeenTotals,
    period: Period,
    request: StatementRequest,
  ): Promise<Result<SignedStatement>>
  /** That the burn was minted. */
  receipt(sight: Sight, seen: SeenPayment, request: StatementRequest): Promise<Result<SignedStatement>>
  /** The signed manifest. */
  manifest(): Result<string>
  /** The signed list of revoked statements, at most `limits.revocationsFreshMs` old. */
  revocations(): Promise<Result<string>>
}

export type StatementParts = {
  readonly settings: IssuerSettings
  readonly money: Money
  readonly clock: Pick<Clock, 'now'>
  readonly random: { bytes(length: number): Uint8Array }
  readonly log: Log
  /** Of one participant. */
  readonly statementsPerHourMax?: number
}

/** Throws `SvcError('issuer_unusable')` when key, manifest and trust anchor do not belong together. */
export async function createStatements(parts: StatementParts): Promise<Statements> {
  const { settings, money, clock, random, statementsPerHourMax = limits.statementsPerHourMax } = parts
  const issuers = openIssuer(settings, clock)
  const artifacts = await openArtifacts(settings.artifactPath)
  const listed = createRevocationList(settings.artifactPath, clock)
  const takesOneMore = createRate(clock, statementsPerHourMax)
  const complain = (err: unknown) => parts.log({ event: 'issuer.failed', err })
  const seconds = () => unixSeconds(clock)

  const issuer = () => usable(issuers.current)

  function usable<T>(read: () => T): Result<T> {
    try {
      return accept(read())
    } catch (error) {
      if (!(error instanceof CodedError)) throw error
      complain(error)
      return reject('issuer_unavailable')
    }
  }

  /** A full or missing disk is the operator's to fix, so the log says what the participant is not told. */
  async function onDisk<T>(work: Promise<T>): Promise<T> {
    return work.catch((error: Error) => {
      complain(error)
      throw error
    })
  }

  const listOf = (by: Issuer) => onDisk(listed(by))

  async function issue(
    role: ParticipantRole,
    content: StatementContent,
    { audience, nonce }: StatementRequest,
  ): Promise<Result<SignedStatement>> {
    if (![audience, nonce ?? 'none'].every(isName)) {
      return reject('malformed_request', 'audience and nonce: 1 to 256 printable characters without spaces')
    }
    const found = issuer()
    if (!found.ok) return found
    if (!takesOneMore(role)) return reject('too_many_requests')
    const { id, kid, key, manifest, trustAnchor } = found.value
    const [jti, issuedAt] = [Buffer.from(random.bytes(16)).toString('hex'), seconds()]
    const expiresAt = (issuedAt + settings.statementTtlSeconds) as UnixSeconds
    const named = { audience, ...(nonce === undefined ? {} : { nonce }) }
    const signing = { key, kid, issuer: id, issuedAt, expiresAt, jti, random, ...named }
    const statement = await signStatement(content, signing)
    const file = { statement, manifest, revocations: await listOf(found.value) }
    // Nobody gets a statement that a verifier would refuse.
    const verdict = await verifyStatement(statement, {
      trustAnchor,
      manifests: [manifest],
      revocations: 'unchecked',
      now: issuedAt,
      ...named,
    })
    if (!verdict.ok) throw new SvcError('statement_unfit', `the statement is not valid: ${verdict.message}`)
    const issued = { ...toStatementFile(file), jti, expiresAt }
    const kept = { jti, kind: content.kind, role, audience, issuedAt, expiresAt, file: issued }
    await onDisk(artifacts.write(kept))
    return accept(issued)
  }

  const refusal = (code: ReasonCode): Promise<Rejection> => Promise.resolve(reject(code))

  return {
    statePayment(sight, seen, request) {
      const statement = paymentStatement(sight, seen, money)
      return statement ? issue(sight.role, statement, request) : refusal('nothing_to_state')
    },

    stateTotal(sight, totals, period, request) {
      if (period.since >= period.until || period.until + limits.periodRestSeconds > seconds())
        return refusal('period_not_over')
      return issue(sight.role, totalStatement(sight, totals, period, money), request)
    },

    receipt(sight, seen, request) {
      const statement = finalityStatement(seen, money, seconds())
      return typeof statement === 'string' ? refusal(statement) : issue(sight.role, statement, request)
    },

    manifest: () => usable(issuers.manifest),

    async revocations() {
      const found = issuer()
      return found.ok ? accept(await listOf(found.value)) : found
    },
  }
}

const hourMs = 3_600_000

/** Counts the statements of each role by the hour: every one of them takes room on the disk. */
function createRate(clock: Pick<Clock, 'now'>, perHourMax: number): (role: ParticipantRole) => boolean {
  const taken = new Map<ParticipantRole, { readonly hour: number; readonly statements: number }>()
  return (role) => {
    const hour = Math.floor(clock.now() / hourMs)
    const before = taken.get(role)
    const statements = before?.hour === hour ? before.statements : 0
    if (statements >= perHourMax) return false
    taken.set(role, { hour, statements: statements + 1 })
    return true
  }
}
