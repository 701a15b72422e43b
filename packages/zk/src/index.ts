export { ArtifactError } from './artifacts/artifact-error.js'
export {
  type ArtifactFile,
  type Artifacts,
  type CircuitArtifacts,
  type CircuitsOfManifest,
  circuitsIn,
  keysOf,
  keysRefused,
  type Manifest,
  manifestFile,
  parseManifest,
  readArtifacts,
} from './artifacts/artifacts.js'
export { type Contribution, type PublicValue, readKeyFile } from './artifacts/key-file.js'
export {
  type G1,
  type G2,
  isForgeable,
  type VerificationKey,
  verificationKeyHash,
} from './artifacts/verification-key.js'
export {
  type BatchBurn,
  type BatchShape,
  batchRange,
  batchShape,
  batchWithdrawInput,
  fittingLeaves,
} from './batch-withdraw.js'
export { addressOf, type BurnTerms, burnAddressAt, deriveBurn } from './burn-address.js'
export { burnHash, checkPow, type PowPuzzle, secretAt } from './burn-hash.js'
export {
  batchCircuit,
  type CircuitName,
  circuitNames,
  hubHeight,
  type NeededCircuit,
  neededCircuits,
  type RootCircuit,
  rootBatches,
} from './circuit-name.js'
export { type Generation, upstreamPowBits } from './generation.js'
export { nextHashChain, type Transfer } from './hash-chain.js'
export { type Hex, hexOf } from './hex.js'
export {
  createMemoryNodes,
  createMerkleTree,
  emptyRoots,
  emptyTreeRoot,
  type MerklePath,
  type MerkleTree,
  type NodeStore,
  rootOfPath,
  transferLeaf,
  treeHeight,
} from './merkle-tree.js'
export { fieldPrime, hash2, hash3 } from './poseidon.js'
export { findPowNonce, type NonceRange } from './pow-kernel.js'
export { type GeneralRecipient, recipientHash, recipientWord } from './recipient-hash.js'
export { evaluateTransfers, rootChallenge } from './root-challenge.js'
export { deriveSeed, seedFingerprint } from './seed.js'
export {
  type CircuitInput,
  type RootWitness,
  rootInput,
  withdrawInput,
} from './witness.js'
