/** Why a statement, or what it rests on, is not believed. Every check has its own code. */
import { CodedError } from '@svc-zerc20/protocol'

/** Code → what is wrong. In the order in which they are looked for, as far as one check depends on another. */
export const statementReasons = {
  file_malformed: 'The file is no statement file of this format.',
  anchor_malformed: 'The trust anchor is no public Ed25519 key as a JWK.',
  manifest_missing: 'There is no manifest: it names the keys of the issuer.',
  manifest_malformed: 'The manifest is no signed list of keys.',
  manifest_anchor: 'The manifest belongs to another trust anchor.',
  manifest_signature: 'The manifest was not signed by the trust anchor.',
  manifest_not_yet_valid: 'The manifest was signed in the future.',
  manifest_expired: 'The manifest has expired; get the newest one from the issuer.',
  manifest_old: 'The manifest is older than one that is known.',
  statement_too_large: 'The statement is larger than any that is issued.',
  statement_malformed: 'The statement is no SD-JWT.',
  statement_algorithm: 'The statement is not signed with EdDSA.',
  statement_type: 'The type of the token is not dc+sd-jwt.',
  statement_header: 'The header has parameters that no statement has.',
  statement_key_unknown: 'The manifest does not have the key of the statement.',
  statement_key_revoked: 'The key of the statement was revoked.',
  statement_signature: 'The signature does not belong to the key and the text.',
  statement_incomplete: 'A claim that every statement has is missing, or has the wrong form.',
  statement_kind: 'The kind of statement is not known here.',
  statement_issuer: 'The statement names another issuer than the manifest.',
  statement_not_yet_valid: 'The statement was issued in the future.',
  statement_expired: 'The statement has expired.',
  statement_key_not_yet_valid: 'The statement was issued before its key was valid.',
  statement_key_retired: 'The statement was issued after its key was retired.',
  statement_audience: 'The statement was made for another audience.',
  statement_nonce_missing: 'A nonce was asked for, and the statement has none.',
  statement_nonce: 'The statement has another nonce than the one asked for.',
  statement_hash: 'The hidden claims are not hashed with sha-256.',
  statement_digests: 'The digests of the hidden claims have the wrong form, or one is there twice.',
  key_binding: 'The statement carries a key-binding token; statements are bound by audience and nonce.',
  disclosure_malformed: 'A disclosure is no salt, name and value.',
  disclosure_repeated: 'A disclosure, or the claim of one, is there twice.',
  disclosure_unknown: 'A disclosure does not belong to the statement.',
  disclosure_forbidden: 'A disclosure names a claim that is never hidden.',
  claim_unknown: 'A claim does not belong to this kind of statement.',
  claim_malformed: 'A claim has the wrong form.',
  claim_hidden: 'A claim that was asked for is not disclosed.',
  revocations_missing: 'There is no list of revocations.',
  revocations_malformed: 'The list of revocations is no signed list.',
  revocations_key: 'The key of the list of revocations is unknown, revoked, or was not valid then.',
  revocations_signature: 'The list of revocations was not signed by its key.',
  revocations_issuer: 'The list of revocations is from another issuer.',
  revocations_not_yet_valid: 'The list of revocations was signed in the future.',
  revocations_stale: 'The list of revocations is too old; get a fresh one from the issuer.',
  statement_revoked: 'The issuer revoked the statement.',
} as const satisfies Record<string, string>

export type StatementReason = keyof typeof statementReasons

export class StatementError extends CodedError<StatementReason> {
  override readonly name = 'StatementError'
  readonly reason: StatementReason

  constructor(reason: StatementReason, detail?: string) {
    super(reason, detail === undefined ? statementReasons[reason] : `${statementReasons[reason]} ${detail}`)
    this.reason = reason
  }
}
