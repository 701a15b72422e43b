export * from './generated/index.js'
export {
  encodeRootProof,
  encodeWithdrawProof,
  type ProofWords,
  type RootProof,
  type Transfer,
} from './proof-bytes.js'
export { type Immutables, type Runtime, readRuntime } from './runtime-code.js'
export { type KeyWords, keyArgument, keyImmutables } from './verification-key.js'
