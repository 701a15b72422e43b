/** Why a proof, or what it rests on, is not believed. Every check has a code of its own. */
import { SvcError } from '@svc-zerc20/protocol'

/** Code → what is wrong. In the order in which they are looked for, as far as one check depends on another. */
export const proofReasons = {
  file_malformed: 'The file is no proof file of this format.',
  anchor_malformed: 'The trust anchor is no public Ed25519 key as a JWK.',
  manifest_missing: 'There is no manifest: it names the keys of the issuer.',
  manifest_malformed: 'The manifest is no signed list of keys.',
  manifest_anchor: 'The manifest belongs to another trust anchor.',
  manifest_signature: 'The manifest was not signed by the trust anchor.',
  manifest_not_yet_valid: 'The manifest was signed in the future.',
  manifest_expired: 'The manifest has expired; get the newest one from the issuer.',
  manifest_old: 'The manifest is older than one that is known.',
  proof_too_large: 'The proof is larger than any that is issued.',
  proof_malformed: 'The proof is no SD-JWT.',
  proof_algorithm: 'The proof is not signed with EdDSA.',
  proof_type: 'The type of the token is not dc+sd-jwt.',
  proof_header: 'The header has parameters that no proof has.',
  proof_key_unknown: 'The manifest does not have the key of the proof.',
  proof_key_revoked: 'The key of the proof was revoked.',
  proof_signature: 'The signature does not belong to the key and the text.',
  proof_incomplete: 'A claim that every proof has is missing, or has the wrong form.',
  proof_kind: 'The kind of statement is not known here.',
  proof_issuer: 'The proof names another issuer than the manifest.',
  proof_not_yet_valid: 'The proof was issued in the future.',
  proof_expired: 'The proof has expired.',
  proof_key_not_yet_valid: 'The proof was issued before its key was valid.',
  proof_key_retired: 'The proof was issued after its key was retired.',
  proof_audience: 'The proof was made for another audience.',
  proof_nonce_missing: 'A nonce was asked for, and the proof has none.',
  proof_nonce: 'The proof has another nonce than the one asked for.',
  proof_hash: 'The hidden claims are not hashed with sha-256.',
  proof_digests: 'The digests of the hidden claims have the wrong form, or one is there twice.',
  key_binding: 'The proof carries a key-binding token; proofs are bound by audience and nonce.',
  disclosure_malformed: 'A disclosure is no salt, name and value.',
  disclosure_repeated: 'A disclosure, or the claim of one, is there twice.',
  disclosure_unknown: 'A disclosure does not belong to the proof.',
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
  proof_revoked: 'The issuer revoked the proof.',
} as const satisfies Record<string, string>

export type ProofReason = keyof typeof proofReasons

export class ProofError extends SvcError {
  readonly reason: ProofReason

  constructor(reason: ProofReason, detail?: string) {
    super(reason, detail === undefined ? proofReasons[reason] : `${proofReasons[reason]} ${detail}`)
    this.reason = reason
  }
}
