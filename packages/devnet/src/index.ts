export { minedReceipt } from './deploy/chain-client.js'
export { deployContracts } from './deploy/deploy.js'
export { type Deployment, devnetToken } from './deploy/deployment.js'
export { changeConfigFile } from './network/facilitator-config.js'
export { openFee } from './network/fee-mode.js'
export {
  type LocalNetwork,
  type LocalNetworkOptions,
  startLocalNetwork,
} from './network/local-network.js'
export { type NetworkFile, shopRoutes } from './network/network-file.js'
export { createPostgresFolder, runStatements } from './network/postgres.js'
export { facilitatorCommand, startIndexer } from './network/services.js'
export * from './node/accounts.js'
export { type Chain, type ChainStats, startChain } from './node/chain.js'
export type { Fault } from './node/faults/faults.js'
