import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Deployment } from '../deploy/deployment.js'
import { developmentRoles } from '../node/accounts.js'

/** Routes of the example shop, with prices in base units. */
export const shopRoutes = {
  cheap: { path: '/cheap', price: '1000' },
  dear: { path: '/dear', price: '250000' },
} as const

/** The facts about a running network that go into the file. */
export type NetworkFacts = Pick<
  NetworkFile,
  'rpcUrl' | 'facilitatorUrl' | 'indexerUrl' | 'deciderUrl' | 'controlUrl' | 'adminToken' | 'configFile'
> & {
  readonly deployment: Deployment
  readonly artifacts: string | undefined
  readonly splitter: string | undefined
  readonly historyEnvFile: string | undefined
  readonly shopUrl: string | undefined
  readonly directory: string
}

/** The file that describes a running devnet to other tools. Its keys are public development keys. */
export type NetworkFile = {
  readonly rpcUrl: string
  readonly chainId: number
  readonly token: string
  readonly helper: string
  readonly verifier: string
  readonly hub: string
  readonly facilitatorUrl: string
  readonly shopUrl: string
  readonly indexerUrl: string
  readonly deciderUrl: string
  readonly controlUrl: string
  readonly adminToken: string
  readonly configFile: string
  /** Folder of the proving keys; absent when nothing is finalized. */
  readonly artifacts?: string
  /** The contract that divides what is minted; absent unless the fee is split. */
  readonly splitter?: string
  /** Variables of the payment history, as a file; absent unless one is kept. */
  readonly historyEnvFile?: string
  readonly accounts: Readonly<
    Record<
      'payer' | 'treasury' | 'relayer' | 'provider' | 'feeRecipient',
      { readonly address: string; readonly privateKey: string }
    >
  >
  readonly routes: Readonly<Record<'cheap' | 'dear', { readonly path: string; readonly price: string }>>
  /** The process that removes this file at its end. */
  readonly pid: number
}

const fileName = 'network.json'

/** Written to a temporary name and renamed, so that a waiting reader never sees half a file. */
export function writeNetworkFile(network: NetworkFacts, pid: number): string {
  const { payer, treasury, relayer, provider, feeRecipient } = developmentRoles
  const content: NetworkFile = {
    rpcUrl: network.rpcUrl,
    chainId: network.deployment.chainId,
    token: network.deployment.token,
    helper: network.deployment.permitBurner,
    verifier: network.deployment.verifier,
    hub: network.deployment.hub,
    facilitatorUrl: network.facilitatorUrl,
    shopUrl: network.shopUrl ?? '',
    indexerUrl: network.indexerUrl,
    deciderUrl: network.deciderUrl,
    controlUrl: network.controlUrl,
    adminToken: network.adminToken,
    configFile: network.configFile,
    ...(network.artifacts !== undefined && { artifacts: network.artifacts }),
    ...(network.splitter !== undefined && { splitter: network.splitter }),
    ...(network.historyEnvFile !== undefined && { historyEnvFile: network.historyEnvFile }),
    accounts: { payer, treasury, relayer, provider, feeRecipient },
    routes: shopRoutes,
    pid,
  }
  const file = join(network.directory, fileName)
  writeFileSync(`${file}.tmp`, `${JSON.stringify(content, undefined, 2)}\n`, { mode: 0o600 })
  renameSync(`${file}.tmp`, file)
  return file
}

export function removeNetworkFile(directory: string): void {
  rmSync(join(directory, fileName), { force: true })
}
