#!/usr/bin/env node
/** `svc-devnet`: starts everything that is needed to pay and be paid on this machine. */
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { onStopSignal } from '@svc-zerc20/daemon'
import type { Command } from 'commander'
import { createProgram, type Options, ports } from './command-line.js'
import { howToAsk } from './network/history-mode.js'
import { type LocalNetwork, startLocalNetwork } from './network/local-network.js'
import { howToUse, removeNetworkFile, writeNetworkFile } from './network/network-file.js'
import { startOn } from './network/wanted-port.js'
import type { MiningMode } from './node/mining.js'
import { type Storefront, startStorefront } from './storefront/storefront.js'

const exampleShop = fileURLToPath(new URL('../../../examples/dist/shop.js', import.meta.url))

await createProgram(run).parseAsync()

async function run(options: Options, program: Command): Promise<void> {
  if (options.split && options.fee === undefined)
    program.error('error: --split needs --fee payer or --fee provider')
  if (options.postgres && options.rpcUrl !== undefined)
    program.error('error: the database of --postgres lasts as long as a new chain: no --rpc-url')
  const say = (line: string) => process.stdout.write(`${line}\n`)
  const stopping = new AbortController()
  // Further signals are ignored while the parts stop, so that no process is left behind.
  onStopSignal(
    () => stopping.abort(),
    () => undefined,
  )
  const mining: MiningMode =
    options.blockTime === 0 ? { mode: 'instant' } : { mode: 'interval', intervalMs: options.blockTime }
  let network: LocalNetwork
  try {
    network = await startLocalNetwork({
      directory: options.dir,
      mining,
      chainPort: options.chainPort ?? { preferred: ports.chain },
      facilitatorPort: options.facilitatorPort ?? { preferred: ports.facilitator },
      shopPort: options.shopPort ?? { preferred: ports.shop },
      finalization: options.finalization,
      batch: options.batch,
      minterKey: options.minterKey,
      decider: options.decider,
      history: options.history,
      postgres: options.postgres,
      say,
      signal: stopping.signal,
      ...(options.fee && { fee: { chargeTo: options.fee, isSplit: options.split } }),
      ...(options.rpcUrl !== undefined && { rpcUrl: options.rpcUrl }),
      ...(options.shop && existsSync(exampleShop) && { shopScript: exampleShop }),
    })
  } catch (error) {
    if (stopping.signal.aborted) process.exit(0)
    process.stderr.write(`svc-devnet could not start: ${(error as Error).message}\n`)
    process.exit(1)
  }
  const storefront = await openStorefront(network, options.storefrontPort)
  const facts = { ...factsOf(network, storefront), isBatch: options.batch }
  const file = writeNetworkFile(network, facts)
  for (const line of [...howToAsk(network), ...howToUse(network.directory, facts)]) say(line)
  if (storefront) say(`in a browser: ${storefront.url}/`)
  say(`ready: ${file}`)

  const stopped = once(stopping.signal, 'abort').then(() => undefined)
  const failure = await Promise.race([stopped, network.daemonEnded])
  if (failure !== undefined) process.stderr.write(`svc-devnet stops: ${failure}\n`)
  removeNetworkFile(network.directory)
  await storefront?.close()
  await network.close()
  process.exit(failure === undefined ? 0 : 1)
}

function factsOf(
  { deployment, ...network }: LocalNetwork,
  storefront: Storefront | undefined,
): Omit<Parameters<typeof writeNetworkFile>[1], 'isBatch'> {
  return {
    rpcUrl: network.rpcUrl,
    chainId: deployment.chainId,
    token: deployment.token,
    helper: deployment.permitBurner,
    verifier: deployment.verifier,
    hub: deployment.hub,
    facilitatorUrl: network.facilitatorUrl,
    facilitators: network.facilitators,
    shopUrl: network.shopUrl ?? '',
    storefrontUrl: storefront?.url,
    indexerUrl: network.indexerUrl,
    deciderUrl: network.deciderUrl,
    controlUrl: network.controlUrl,
    adminToken: network.adminToken,
    configFile: network.configFile,
    artifacts: network.artifacts,
    splitter: network.splitter,
    historyEnvFile: network.historyEnvFile,
    pid: process.pid,
  }
}

/** The shop in a browser, where there is a shop. */
async function openStorefront(
  network: LocalNetwork,
  port: number | undefined,
): Promise<Storefront | undefined> {
  const { shopUrl, rpcUrl, deployment } = network
  if (shopUrl === undefined) return undefined
  return startOn(port ?? { preferred: ports.storefront }, (free) =>
    startStorefront({
      port: free,
      shopUrl,
      rpcUrl,
      chainId: deployment.chainId,
      hasHistory: network.historyEnvFile !== undefined,
      sources: network,
    }),
  )
}
