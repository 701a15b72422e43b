export * from './accounts.js'
export { type Chain, type ChainOptions, startChain } from './chain.js'
export { type Clock, systemClock } from './clock.js'
export { type ControlServer, startControlServer } from './control-server.js'
export { deployContracts } from './deploy.js'
export { type Deployment, devnetToken } from './deployment.js'
export { createFaucet, type Faucet, faucetLimits } from './faucet.js'
export type { Fault, FaultEffect } from './faults.js'
export {
  type LocalNetwork,
  type LocalNetworkOptions,
  shopRoutes,
  startLocalNetwork,
} from './local-network.js'
export type { MiningMode } from './mining.js'
export type { NetworkFile } from './network-file.js'
export type { ReorgOptions, ReorgResult } from './reorg.js'
export { RpcError } from './rpc-error.js'
export { startIndexer } from './services.js'
export type { ChainStats } from './stats.js'
