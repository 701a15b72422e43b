/** Verifiable statements about payments: their format, and how they are checked without a server. */
export { isName } from './forms.js'
export { type Issue, signStatement } from './issue.js'
export {
  type PublicJwk,
  parseTrustAnchor,
  thumbprintOf,
} from './keys.js'
export { type Claims, type StatementContent, statementKinds } from './kinds.js'
export {
  type IssuerKey,
  type Manifest,
  readManifest,
  readManifestOfAnyTime,
  signManifest,
} from './manifest.js'
export { presentStatement } from './present.js'
export { signRevocations } from './revocations.js'
export { makePrivateKey, parsePrivateKey, type SigningKey } from './signing-key.js'
export { StatementError, statementReasons } from './statement-error.js'
export {
  parseStatementFile,
  printStatementFile,
  type StatementFile,
  toStatementFile,
} from './statement-file.js'
export { type Verdict, type Verification, type VerifiedStatement, verifyStatement } from './verify.js'
