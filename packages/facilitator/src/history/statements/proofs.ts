/** Proofs for participants: a statement within their scope, signed, kept, and then handed over. */

import {
  accept,
  type Clock,
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
  issueProof,
  type ProofFile,
  type Statement,
  toProofFile,
  verifyProof,
} from '@svc-zerc20/statement'
import { limits } from '../../config/limits.js'
import type { IssuerSettings, ParticipantRole } from '../../config/secrets/history.js'
import type { Log } from '../../telemetry/events.js'
import type { SeenPayment, SeenTotals, Sight } from '../scopes.js'
import { openArtifacts } from './artifacts.js'
import { type Issuer, openIssuer } from './issuer.js'
import { createRevocationList } from './revocation-list.js'
import { finalityStatement, type Money, type Period, paymentStatement, totalStatement } from './contents.js'

/** For whom a proof is made. Another verifier refuses it. */
export type ProofRequest = { readonly audience: string; readonly nonce?: string | undefined }

/** A proof file, and two things about it. Whoever saves the answer as it is has a file that can be verified. */
export type IssuedProof = ReturnType<typeof toProofFile> & {
  readonly jti: string
  readonly expiresAt: UnixSeconds
}

export type Proofs = {
  provePayment(sight: Sight, seen: SeenPayment, request: ProofRequest): Promise<Result<IssuedProof>>
  proveTotal(
    sight: Sight,
    totals: SeenTotals,
    period: Period,
    request: ProofRequest,
  ): Promise<Result<IssuedProof>>
  /** That the burn was minted. */
  receipt(sight: Sight, seen: SeenPayment, request: ProofRequest): Promise<Result<IssuedProof>>
  /** The signed manifest. */
  manifest(): Result<string>
  /** The signed list of revoked proofs, at most `limits.revocationsFreshMs` old. */
  revocations(): Promise<Result<string>>
}

export type ProofParts = {
  readonly settings: IssuerSettings
  readonly money: Money
  readonly clock: Pick<Clock, 'now'>
  readonly random: { bytes(length: number): Uint8Array }
  readonly log: Log
  /** Of one participant. */
  readonly proofsPerHourMax?: number
}

/** Throws `SvcError('issuer_unusable')` when key, manifest and trust anchor do not belong together. */
export async function createProofs(parts: ProofParts): Promise<Proofs> {
  const { settings, money, clock, random, proofsPerHourMax = limits.proofsPerHourMax } = parts
  const issuers = openIssuer(settings, clock)
  const artifacts = await openArtifacts(settings.artifactPath)
  const listed = createRevocationList(settings.artifactPath, clock)
  const takesOneMore = createRate(clock, proofsPerHourMax)
  const complain = createComplaints(parts)
  const seconds = () => unixSeconds(clock)

  const issuer = () => usable(issuers.current)

  function usable<T>(read: () => T): Result<T> {
    try {
      return accept(read())
    } catch (error) {
      if (!(error instanceof SvcError)) throw error
      complain(error.message)
      return reject('issuer_unavailable')
    }
  }

  /** A full or missing disk is the operator's to fix, so the log says what the participant is not told. */
  async function onDisk<T>(work: Promise<T>): Promise<T> {
    return work.catch((error: Error) => {
      complain(error.message)
      throw error
    })
  }

  const listOf = (by: Issuer) => onDisk(listed(by))

  async function issue(
    role: ParticipantRole,
    statement: Statement,
    { audience, nonce }: ProofRequest,
  ): Promise<Result<IssuedProof>> {
    if (![audience, nonce ?? 'none'].every(isName)) {
      return reject('malformed_request', 'audience and nonce: 1 to 256 printable characters without spaces')
    }
    const found = issuer()
    if (!found.ok) return found
    if (!takesOneMore(role)) return reject('too_many_requests')
    const { id, kid, key, manifest, trustAnchor } = found.value
    const [jti, issuedAt] = [Buffer.from(random.bytes(16)).toString('hex'), seconds()]
    const expiresAt = (issuedAt + settings.proofTtlSeconds) as UnixSeconds
    const named = { audience, ...(nonce === undefined ? {} : { nonce }) }
    const proof = await issueProof(statement, {
      ...{ key, kid, issuer: id, issuedAt, expiresAt, jti, random },
      ...named,
    })
    const file: ProofFile = { proof, manifest, revocations: await listOf(found.value) }
    // Nobody gets a proof that a verifier would refuse.
    const verdict = await verifyProof(proof, {
      ...{ trustAnchor, manifests: [manifest], revocations: 'unchecked', now: issuedAt },
      ...named,
    })
    if (!verdict.ok) throw new SvcError('proof_unfit', `the proof is not valid: ${verdict.message}`)
    const issued = { ...toProofFile(file), jti, expiresAt }
    const kept = { jti, kind: statement.kind, role, audience, issuedAt, expiresAt, file: issued }
    await onDisk(artifacts.write(kept))
    return accept(issued)
  }

  const refusal = (code: ReasonCode): Promise<Rejection> => Promise.resolve(reject(code))

  return {
    provePayment(sight, seen, request) {
      const statement = paymentStatement(sight, seen, money)
      return statement ? issue(sight.role, statement, request) : refusal('nothing_to_prove')
    },

    proveTotal(sight, totals, period, request) {
      if (period.since >= period.until || period.until > seconds()) return refusal('period_not_over')
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

/** Strangers may ask for the manifest, and must not fill the log with what is wrong with it. */
function createComplaints({ clock, log }: Pick<ProofParts, 'clock' | 'log'>): (about: string) => void {
  let last = { about: '', at: Number.NEGATIVE_INFINITY }
  return (about) => {
    const at = clock.now()
    if (about === last.about && at - last.at < limits.logWindowMs) return
    last = { about, at }
    for (const message of about.split('\n')) log({ event: 'facilitator.warning', message })
  }
}

const hourMs = 3_600_000

/** Counts the proofs of each role by the hour: every one of them takes room on the disk. */
function createRate(clock: Pick<Clock, 'now'>, perHourMax: number): (role: ParticipantRole) => boolean {
  const taken = new Map<ParticipantRole, { readonly hour: number; readonly proofs: number }>()
  return (role) => {
    const hour = Math.floor(clock.now() / hourMs)
    const before = taken.get(role)
    const proofs = before?.hour === hour ? before.proofs : 0
    if (proofs >= perHourMax) return false
    taken.set(role, { hour, proofs: proofs + 1 })
    return true
  }
}
