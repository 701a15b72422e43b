export {
  defaultFolder,
  developmentPowBits,
  type EnsureArtifacts,
  ensureArtifacts,
} from './ensure-artifacts.js'
