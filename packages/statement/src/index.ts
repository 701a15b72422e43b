/** Verifiable statements about payments: their format, and how they are checked without a server. */
export { isName } from './forms.js'
export { type Issue, issueProof } from './issue.js'
export {
  makePrivateKey,
  type PublicJwk,
  parsePrivateKey,
  parsePublicJwk,
  parseTrustAnchor,
  type SigningKey,
  thumbprintOf,
} from './keys.js'
export {
  type IssuerKey,
  type Manifest,
  readManifest,
  readManifestOfAnyTime,
  signManifest,
} from './manifest.js'
export { presentProof } from './present.js'
export { ProofError, type ProofReason, proofReasons } from './statement-error.js'
export { type ProofFile, parseProofFile, printProofFile, toProofFile } from './statement-file.js'
export { newestRevocations, type Revocations, signRevocations } from './revocations.js'
export { type Claims, type Statement, type StatementKind, statementKinds } from './kinds.js'
export { type Verdict, type Verification, type VerifiedProof, verifyProof } from './verify.js'
