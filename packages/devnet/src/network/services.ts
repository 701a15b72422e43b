import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import {
  type Log,
  parseConfig,
  readSecrets,
  type StartOptions,
  startFacilitator,
} from '@svc-zerc20/facilitator'
import type { Deployment } from '../deploy/deployment.js'
import { developmentRoles } from '../node/accounts.js'
import { type Child, startChild } from './child.js'

/** The facilitator's keys and token, as it reads them from its environment. */
export type FacilitatorEnv = {
  readonly SVC_TREASURY_PK: string
  readonly SVC_RELAYER_PK: string
  readonly SVC_MINTER_PK?: string
  readonly SVC_DECIDER_TOKEN?: string
  readonly SVC_ADMIN_TOKEN: string
  /** Variables of the payment history. */
  readonly [name: string]: string
}

/** The flags of `deploy/`, so that measurements here hold for a deployment. */
export const daemonNodeFlags = ['--max-semi-space-size=8', '--v8-pool-size=1'] as const

/** The file of a command, in its installed package. */
const commandOf = (name: 'facilitator' | 'indexer'): string => {
  const library = createRequire(import.meta.url).resolve(`@svc-zerc20/${name}`)
  return join(dirname(library), '..', 'bin', `svc-${name}.mjs`)
}

export const facilitatorCommand = commandOf('facilitator')

/** The real daemon as its own process. */
export function startFacilitatorDaemon(options: {
  configFile: string
  env: FacilitatorEnv
  logFile: string
  signal?: AbortSignal
}): Promise<Child> {
  return startChild({
    name: 'facilitator',
    nodeFlags: daemonNodeFlags,
    script: facilitatorCommand,
    args: ['start', '--config', options.configFile],
    env: options.env,
    logFile: options.logFile,
    isReady: (line) => line.event === 'facilitator.listening',
    ...(options.signal && { signal: options.signal }),
  })
}

/** The decider as its own process. */
export function startDecider(options: {
  artifacts: string
  token: string
  /** Where it logs to. */
  directory: string
  signal?: AbortSignal
}): Promise<Child> {
  return startChild({
    name: 'decider',
    script: facilitatorCommand,
    args: ['decide', '--artifacts', options.artifacts, '--listen', '127.0.0.1:0'],
    env: { SVC_DECIDER_TOKEN: options.token },
    logFile: join(options.directory, 'decider.log'),
    isReady: (line) => line.event === 'decider.ready',
    ...(options.signal && { signal: options.signal }),
  })
}

/** The same facilitator inside this process, for tests that control its clock. */
export async function startFacilitatorHere(
  configText: string,
  env: FacilitatorEnv,
  options: Partial<Pick<StartOptions, 'clock' | 'random'>> & { log: Log },
): Promise<{ url: string; close(): Promise<void> }> {
  const config = parseConfig(configText)
  const { secrets } = readSecrets(config, env)
  return startFacilitator({ config, secrets, ...options })
}

/** The indexer as its own process, proving roots with the development keys. */
export function startIndexer(options: {
  rpcUrl: string
  deployment: Deployment
  artifacts: string
  /** Its database. */
  folder: string
  /** Where it logs to. */
  directory: string
  /** Any free one by default. */
  port?: number
  /** How long transfers wait for more of them before their root is proved; the indexer's own default without it. */
  gatherMs?: number
  signal?: AbortSignal
}): Promise<Child> {
  const { chainId, token, verifier, fromBlock } = options.deployment
  return startChild({
    name: 'indexer',
    script: commandOf('indexer'),
    args: [
      ...['--rpc-url', options.rpcUrl],
      ...['--chain-id', `${chainId}`],
      ...['--token', token],
      ...['--verifier', verifier],
      ...['--from-block', `${fromBlock}`],
      ...['--folder', options.folder],
      ...['--listen', `127.0.0.1:${options.port ?? 0}`],
      ...['--poll-ms', '200'],
      ...(options.gatherMs === undefined ? [] : ['--gather-ms', `${options.gatherMs}`]),
      ...['--artifacts', options.artifacts],
    ],
    env: { SVC_INDEXER_PK: developmentRoles.rootProver.privateKey },
    logFile: join(options.directory, 'indexer.log'),
    isReady: (line) => line.event === 'indexer.ready',
    ...(options.signal && { signal: options.signal }),
  })
}

export type ShopEnv = {
  readonly SHOP_PORT: string
  readonly FACILITATOR_URL: string
  readonly SHOP_NETWORK: string
  readonly SHOP_TOKEN: string
  readonly SHOP_SECRET: string
  readonly SHOP_CHEAP_PRICE: string
  readonly SHOP_DEAR_PRICE: string
  readonly SHOP_UNPAID_PER_MINUTE: string
}

export function startShop(options: {
  script: string
  env: ShopEnv
  /** Where it logs to. */
  directory: string
  signal?: AbortSignal
}): Promise<Child> {
  return startChild({
    name: 'shop',
    script: options.script,
    env: options.env,
    logFile: join(options.directory, 'shop.log'),
    isReady: (line) => line.ready === true,
    ...(options.signal && { signal: options.signal }),
  })
}
