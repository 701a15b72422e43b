export {
  type AddressMiner,
  type AddressMinerDeps,
  createAddressMiner,
} from './address-miner.js'
export {
  type AddressPool,
  type AddressPoolDeps,
  createAddressPool,
  type PoolCaller,
  type PoolFigures,
  type PoolShares,
  type ReadyAddress,
} from './address-pool.js'
export type { AddressStore, StoredAddress } from './address-reserve.js'
export { ArtifactError, type ArtifactErrorCode } from './artifact-error.js'
export {
  type ArtifactFile,
  type Artifacts,
  type CircuitArtifacts,
  type Manifest,
  manifestFile,
  parseManifest,
  readArtifacts,
} from './artifacts.js'
export {
  type BurnDerivation,
  type BurnTerms,
  burnAddressAt,
  deriveBurn,
  type MinedAddress,
  type SearchOutcome,
  search,
  verifyBurnAddress,
} from './burn-address.js'
export { addressOf, burnHash, checkPow, type PowPuzzle, secretAt } from './burn-hash.js'
export {
  type CircuitName,
  circuitNames,
  hubHeight,
  type RootCircuit,
  rootBatches,
} from './circuit-name.js'
export { encodeFullBurnAddress } from './full-burn-address.js'
export { type Generation, upstreamPowBits } from './generation.js'
export { nextHashChain, type Transfer } from './hash-chain.js'
export type { Hex } from './hex.js'
export { type Contribution, type KeyFile, type PublicValue, readKeyFile } from './key-file.js'
export {
  createMemoryNodes,
  createMerkleTree,
  emptyRoots,
  type MerklePath,
  type MerkleTree,
  type NodeStore,
  rootOfPath,
  transferLeaf,
  treeHeight,
} from './merkle-tree.js'
export { MineError, type MineErrorCode } from './mine-error.js'
export { startMineWorker } from './mine-slot.js'
export { fieldPrime, hash2, hash3 } from './poseidon.js'
export { findPowNonce, type NonceRange, type PowKernel } from './pow-kernel.js'
export { type GeneralRecipient, recipientHash, recipientWord } from './recipient-hash.js'
export { evaluateTransfers, type RootTransition, rootChallenge } from './root-challenge.js'
export { deriveSeed, seedFingerprint } from './seed.js'
export {
  type G1,
  type G2,
  isForgeable,
  type VerificationKey,
  verificationKeyHash,
} from './verification-key.js'
export type { Sleeper } from './wait-line.js'
export {
  type CircuitInput,
  type RootStep,
  type RootWitness,
  rootInput,
  type Withdrawal,
  type WithdrawWitness,
  withdrawInput,
} from './witness.js'
