export { minedReceipt } from './deploy/chain-client.js'
export { deployContracts } from './deploy/deploy.js'
export { type Deployment, devnetToken } from './deploy/deployment.js'
export { createFaucet, type Faucet, faucetLimits } from './deploy/faucet.js'
export { type ControlServer, startControlServer } from './network/control-server.js'
export { changeConfigFile } from './network/facilitator-config.js'
export { type FeeMode, openFee } from './network/fee-mode.js'
export {
  type LocalNetwork,
  type LocalNetworkOptions,
  startLocalNetwork,
} from './network/local-network.js'
export { type NetworkFile, shopRoutes } from './network/network-file.js'
export { createPostgresFolder, findPostgres, type PostgresFolder } from './network/postgres.js'
export { facilitatorCommand, startIndexer } from './network/services.js'
export * from './node/accounts.js'
export type { ChainStats } from './node/chain.js'
export { type Chain, type ChainOptions, startChain } from './node/chain.js'
export type { Fault, FaultEffect } from './node/faults/faults.js'
export type { MiningMode } from './node/mining.js'
export type { ReorgOptions, ReorgResult } from './node/reorg.js'
export { RpcError } from './node/rpc/rpc-error.js'
export { type Storefront, startStorefront } from './storefront/storefront.js'
