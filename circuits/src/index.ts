export {
  defaultFolder,
  developmentPowBits,
  type EnsureArtifacts,
  ensureArtifacts,
} from './artifacts/ensure-artifacts.js'
