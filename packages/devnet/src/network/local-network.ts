import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { ensureArtifacts } from '@svc-zerc20/circuits'
import type { LogEvent } from '@svc-zerc20/facilitator'
import { type Artifacts, readArtifacts } from '@svc-zerc20/zk'
import type { Address } from 'viem'
import { deployContracts } from '../deploy/deploy.js'
import type { Deployment } from '../deploy/deployment.js'
import { createFaucet, type Faucet } from '../deploy/faucet.js'
import { developmentRoles } from '../node/accounts.js'
import { type Chain, startChain } from '../node/chain.js'
import type { MiningMode } from '../node/mining.js'
import { createDaemons, type Daemons } from './child.js'
import { startControlServer } from './control-server.js'
import type { ConfigTables } from './facilitator-config.js'
import { type FacilitatorProcess, type InProcess, startFacilitatorPart } from './facilitator-part.js'
import { type FeeMode, openFee } from './fee-mode.js'
import { openFrontDoor } from './front-door.js'
import { openHistory } from './history-mode.js'
import { lockFolder, removeNetworkFile, shopRoutes } from './network-file.js'
import { openDatabase } from './postgres.js'
import { facilitatorCommand, startDecider, startIndexer, startShop } from './services.js'
import { freePort, startOn, type WantedPort } from './wanted-port.js'

export type LocalNetworkOptions = {
  /** An existing node to deploy to. Without it, a chain is started in this process. */
  rpcUrl?: string
  /** Any free port without it; the same for the others. */
  chainPort?: WantedPort
  mining?: MiningMode
  /**
   * Folder for configuration and logs. Default: a temporary folder that is removed at the end. A second network in the
   * same folder is refused before it touches anything.
   */
  directory?: string
  /** Overrides for the facilitator's configuration, for example `{ daemon: { rate_limit_per_min: 5 } }`. */
  config?: ConfigTables
  /** Further variables of the facilitator's environment, such as those of the payment history. */
  environment?: Readonly<Record<string, string>>
  /** Runs the facilitator in this process instead of as a daemon, with this clock and log. */
  inProcess?: InProcess
  /** Also proves roots and mints: starts an indexer and gives the facilitator its proving keys. Off by default, because
   * it needs several processes, and the setup of the circuits the first time. */
  finalization?: boolean
  /** With finalization: folder of the proving keys. Default: the development keys, which are made where they are missing. */
  artifacts?: string
  /** With finalization: how long transfers wait for more of them before their root is proved; two seconds by default. */
  gatherMs?: number
  /** Without finalization: proof-of-work bits of burn addresses. Few make addresses cheap. */
  powBits?: number
  /** With finalization: payments are minted in batches. Their keys take half a minute more the first time. */
  batch?: boolean
  /** With finalization: a decider in its own process makes the batch proofs. */
  decider?: boolean
  /** Mints come from their own key instead of the relayer's. */
  minterKey?: boolean
  /** The facilitator keeps a payment history of the development payer and provider. */
  history?: boolean
  /** Two daemons serve as the facilitator, on one database: the one at this address, or one on their own server. */
  postgres?: boolean | string
  /** The facilitator takes a fee of 2.5 %; none by default. */
  fee?: FeeMode
  /** Script of the shop to start; none by default. */
  shopScript?: string
  shopPort?: WantedPort
  facilitatorPort?: WantedPort
  say?: (line: string) => void
  /** Aborts a start that is under way and ends every process that it has started. */
  signal?: AbortSignal
}

/** All parts of a payment on one machine. They are stopped in the reverse order of their start. */
export type LocalNetwork = {
  readonly chain: Chain | undefined
  readonly rpcUrl: string
  readonly deployment: Deployment
  /** The treasury of a fee in split mode. */
  readonly splitter: Address | undefined
  readonly faucet: Faucet
  readonly controlUrl: string
  readonly indexerUrl: string
  /** Folder of the proving keys, when payments are finalized. */
  readonly artifacts: string | undefined
  readonly deciderUrl: string
  /** Token of the decider, when there is one. */
  readonly deciderToken: string | undefined
  readonly facilitatorUrl: string
  /** The daemons behind that URL, when there are two. */
  readonly facilitators?: readonly FacilitatorProcess[]
  readonly shopUrl: string | undefined
  readonly adminToken: string
  readonly configFile: string
  /** Variables of the payment history, as a file, when one is kept. */
  readonly historyEnvFile: string | undefined
  readonly directory: string
  /** Folder for what the payer of a shell remembers. */
  readonly payerState: string
  /** Events of the in-process facilitator, in order. */
  readonly events: readonly LogEvent[]
  /** Process ids of the daemons. Those of two facilitators are in `facilitators`. */
  readonly pids: Readonly<Partial<Record<'facilitator' | 'indexer' | 'decider' | 'shop', number>>>
  /** Resolves when a daemon ends by itself, with its name and how. */
  readonly daemonEnded: Promise<string>
  close(): Promise<void>
}

/** Ends one part. */
type Closer = () => Promise<void> | void

export async function startLocalNetwork(options: LocalNetworkOptions = {}): Promise<LocalNetwork> {
  const closers: Closer[] = []
  const close = async () => {
    for (const closer of closers.splice(0).reverse()) await closer()
  }
  try {
    return { ...(await start(options, closers)), close }
  } catch (error) {
    await close()
    throw error
  }
}

async function start(options: LocalNetworkOptions, closers: Closer[]): Promise<Omit<LocalNetwork, 'close'>> {
  const { say = () => undefined, signal } = options
  const onClose = (closer: Closer) => void closers.push(closer)
  const directory = await openDirectory(options.directory, closers)
  // First of all, because there may be no server on this machine.
  const database = await openDatabase(options.postgres, join(directory, 'postgres.log'), onClose)
  if (database !== undefined) say(`PostgreSQL at ${database}`)

  const chain = options.rpcUrl === undefined ? await startEmbeddedChain(options) : undefined
  if (chain) closers.push(() => chain.close())
  const rpcUrl = options.rpcUrl ?? chain?.rpcUrl ?? ''
  say(chain ? `chain ${chain.chainId} at ${rpcUrl}` : `using the node at ${rpcUrl}`)

  signal?.throwIfAborted()
  const artifacts = options.finalization ? await openArtifacts(options, say) : undefined
  const deployment = await deploy(rpcUrl, artifacts, options, say)
  const fee = options.fee && (await openFee(options.fee, { rpcUrl, token: deployment.token, say }))
  signal?.throwIfAborted()
  const faucet = createFaucet({ rpcUrl, minter: developmentRoles.deployer, token: deployment.token })
  const control = await startControlServer({ faucet })
  closers.push(() => control.close())
  const daemons = createDaemons({ say, onClose })
  const decider = await openDecider(options, artifacts, directory, daemons)
  const deciderUrl = decider?.url ?? `${control.url}/decider`
  const indexerUrl = artifacts
    ? await openIndexer(options, { rpcUrl, deployment, artifacts: artifacts.folder, directory }, daemons)
    : `${control.url}/indexer`

  const history = options.history ? await openHistoryOf(directory, deployment) : undefined
  const journal = openPath(directory, 'journal.jsonl', deployment)
  // Tokens of the history name the URL, and the command that makes them reads it from the file.
  const facilitatorPort = options.facilitatorPort || (history ? await freePort() : 0)
  const pair = await openPair({ database, directory, deployment }, facilitatorPort, options)
  if (pair) {
    onClose(() => pair.door.close())
    say(`two facilitators behind ${pair.door.url}`)
  }
  const { facilitatorUrl, ...facilitator } = await startOn(pair ? 0 : facilitatorPort, (port) =>
    startFacilitatorPart({
      base: {
        rpcUrl,
        deployment,
        indexerUrl,
        deciderUrl,
        port,
        journal,
        ...(artifacts && { artifacts: artifacts.folder, batch: options.batch ?? false }),
        ...(!artifacts && options.powBits !== undefined && { powBits: options.powBits }),
      },
      minterKey: options.minterKey ?? false,
      overrides: [pair?.tables ?? {}, fee?.tables ?? {}, options.config ?? {}],
      ...(pair && { pair }),
      ...(decider && { deciderToken: decider.token }),
      directory,
      daemons,
      onClose,
      environment: { ...history?.env, ...options.environment },
      ...(options.inProcess && { inProcess: options.inProcess }),
      ...(signal && { signal }),
    }),
  )
  const shopUrl = await openShop(options, { facilitatorUrl, ...facilitator, deployment, directory }, daemons)

  signal?.throwIfAborted()
  return {
    chain,
    rpcUrl,
    deployment,
    splitter: fee?.splitter,
    faucet,
    controlUrl: control.url,
    indexerUrl,
    artifacts: artifacts?.folder,
    deciderUrl,
    deciderToken: decider?.token,
    facilitatorUrl,
    shopUrl,
    ...facilitator,
    historyEnvFile: history?.envFile,
    directory,
    payerState: openPath(directory, 'payer', deployment),
    pids: daemons.pids(),
    daemonEnded: daemons.firstEnded(),
  }
}

/** Starts the decider when it is wanted. Its token is drawn for each run. */
async function openDecider(
  { decider = false, signal }: LocalNetworkOptions,
  artifacts: Artifacts | undefined,
  directory: string,
  daemons: Daemons,
): Promise<{ readonly url: string; readonly token: string } | undefined> {
  if (!decider || !artifacts) return undefined
  const token = randomBytes(24).toString('hex')
  const child = await startDecider({
    artifacts: artifacts.folder,
    token,
    directory,
    ...(signal && { signal }),
  })
  return { url: daemons.add('decider', child), token }
}

async function openIndexer(
  options: LocalNetworkOptions,
  part: Pick<Parameters<typeof startIndexer>[0], 'rpcUrl' | 'deployment' | 'artifacts' | 'directory'>,
  daemons: Daemons,
): Promise<string> {
  const folder = openPath(part.directory, 'indexer', part.deployment)
  const { gatherMs, signal } = options
  const child = await startIndexer({
    ...part,
    folder,
    ...(gatherMs !== undefined && { gatherMs }),
    ...(signal && { signal }),
  })
  return daemons.add('indexer', child)
}

/** A door for two daemons that share a database, where there is one, and what their configuration says about it. */
async function openPair(
  {
    database,
    directory,
    deployment,
  }: { database: string | undefined; directory: string; deployment: Deployment },
  wantedPort: WantedPort,
  options: LocalNetworkOptions,
) {
  if (database === undefined) return undefined
  const door = await startOn(wantedPort, openFrontDoor)
  return {
    door,
    tables: { storage: { url: database }, settlement: { journal: 'none' }, history: { url: door.url } },
    // Each daemon writes its own file.
    secondEnv: options.history
      ? { PAYMENT_HISTORY_PATH: openPath(directory, 'history-2.jsonl', deployment) }
      : {},
  }
}

function openHistoryOf(directory: string, deployment: Deployment) {
  return openHistory({
    directory,
    path: openPath(directory, 'history.jsonl', deployment),
    issuer: openPath(directory, 'issuer', deployment),
    proofs: openPath(directory, 'proofs', deployment),
    command: facilitatorCommand,
  })
}

async function openArtifacts(
  { artifacts, batch = false }: LocalNetworkOptions,
  say: (line: string) => void,
): Promise<Artifacts> {
  return readArtifacts(artifacts ?? (await ensureArtifacts({ batch, onProgress: say })))
}

/** Deploys the contracts and funds the accounts of the network. */
function deploy(
  rpcUrl: string,
  artifacts: Artifacts | undefined,
  { batch = false, powBits }: LocalNetworkOptions,
  say: (line: string) => void,
): Promise<Deployment> {
  const { deployer, payer, relayer, minter, treasury, feeRecipient, rootProver } = developmentRoles
  return deployContracts({
    rpcUrl,
    deployer,
    payer: payer.address,
    fund: [relayer, minter, treasury, feeRecipient, rootProver].map(({ address }) => address),
    ...(powBits !== undefined && { powBits }),
    ...(artifacts && { proofs: { manifest: artifacts.manifest, rootProvers: [rootProver.address], batch } }),
    log: say,
  })
}

/** Starts the shop when there is a script for it. */
async function openShop(
  { shopScript, shopPort = 0, signal }: LocalNetworkOptions,
  network: Pick<LocalNetwork, 'facilitatorUrl' | 'facilitators' | 'deployment' | 'directory'>,
  daemons: Daemons,
): Promise<string | undefined> {
  if (shopScript === undefined) return undefined
  const { facilitatorUrl, facilitators, deployment, directory } = network
  const child = await startOn(shopPort, (port) =>
    startShop({
      script: shopScript,
      env: {
        SHOP_PORT: `${port}`,
        FACILITATOR_URL: facilitators?.map(({ url }) => url).join() ?? facilitatorUrl,
        SHOP_NETWORK: `eip155:${deployment.chainId}`,
        SHOP_TOKEN: deployment.token,
        SHOP_SECRET: randomBytes(32).toString('hex'),
        SHOP_CHEAP_PRICE: shopRoutes.cheap.price,
        SHOP_DEAR_PRICE: shopRoutes.dear.price,
        // Every caller of a devnet has the same address.
        SHOP_UNPAID_PER_MINUTE: '600',
      },
      directory,
      ...(signal && { signal }),
    }),
  )
  return daemons.add('shop', child)
}

async function openDirectory(wanted: string | undefined, closers: Closer[]): Promise<string> {
  if (wanted !== undefined) {
    const directory = resolve(wanted)
    mkdirSync(directory, { recursive: true })
    const lock = await lockFolder(directory)
    closers.push(() => lock.release())
    removeNetworkFile(directory)
    return directory
  }
  const directory = mkdtempSync(join(tmpdir(), 'svc-devnet-'))
  closers.push(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** Path of a file about the contracts. For new ones, the old file and its companions `name.…` are removed. */
function openPath(directory: string, name: string, { isNew }: Pick<Deployment, 'isNew'>): string {
  if (isNew) {
    for (const found of readdirSync(directory)) {
      if (found !== name && !found.startsWith(`${name}.`)) continue
      rmSync(join(directory, found), { recursive: true, force: true })
    }
  }
  return join(directory, name)
}

function startEmbeddedChain({ chainPort = 0, mining }: LocalNetworkOptions): Promise<Chain> {
  return startOn(chainPort, (port) =>
    startChain({
      port,
      ...(mining !== undefined && { mining }),
    }),
  )
}
