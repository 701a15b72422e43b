#!/usr/bin/env node
/** `svc-devnet`: starts everything that is needed to pay and be paid on this machine. */
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onStopSignal } from '@svc-zerc20/daemon'
import { Command, InvalidArgumentError, Option } from 'commander'
import { howToAsk } from './network/history-mode.js'
import { type LocalNetwork, startLocalNetwork } from './network/local-network.js'
import { removeNetworkFile, writeNetworkFile } from './network/network-file.js'
import { preferredPort } from './network/preferred-port.js'
import type { MiningMode } from './node/mining.js'

type Options = {
  rpcUrl?: string
  dir: string
  chainPort?: number
  facilitatorPort?: number
  shopPort?: number
  blockTime: number
  shop: boolean
  finalization: boolean
  batch: boolean
  minterKey: boolean
  fee?: 'payer' | 'provider'
  split: boolean
  decider: boolean
  history: boolean
  persist?: boolean
}

/** The default ports of clients. */
const ports = { chain: 8545, facilitator: 4032, shop: 4021 } as const

const exampleShop = fileURLToPath(new URL('../../../examples/dist/shop.js', import.meta.url))

const program = new Command('svc-devnet')
  .description('A local network for svc-zerc20: chain, contracts, indexer, facilitator and an example shop.')
  .version('0.1.0')
  .option('--rpc-url <url>', 'deploy to this node (anvil, geth …) instead of starting a chain')
  .option('--dir <folder>', 'where network.json, configuration and logs are written', '.devnet')
  .option('--chain-port <port>', `port of the chain; ${ports.chain} when it is free, else any`, parsePort)
  .option('--facilitator-port <port>', `the same for the facilitator; ${ports.facilitator}`, parsePort)
  .option('--shop-port <port>', `the same for the shop; ${ports.shop}`, parsePort)
  .option('--block-time <ms>', 'time between blocks; 0 mines every transaction at once', parseBlockTime, 1000)
  .option('--persist', 'keep the embedded chain in the folder and go on with it next time')
  .option('--no-shop', 'do not start the example shop')
  .option('--batch', 'mint payments together; the keys for it are made first, half a minute once', false)
  .option('--decider', 'a decider in a process of its own makes the batch proofs', false)
  .option('--minter-key', "mints come from a key of their own instead of the relayer's", false)
  .addOption(
    new Option(
      '--fee <bearer>',
      'take a fee of 2.5 %: the payer bears it on top of the price, or the provider',
    ).choices(['payer', 'provider']),
  )
  .option('--split', "with --fee: a contract divides what is minted, instead of the treasury's key", false)
  .option('--history', 'keep a payment history of the development payer and provider', false)
  .option('--no-finalization', 'no indexer and no proofs: payments are accepted and wait')
  .action(run)

await program.parseAsync()

async function run(options: Options): Promise<void> {
  if (options.split && options.fee === undefined)
    program.error('error: --split needs --fee payer or --fee provider')
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
      chainPort: options.chainPort ?? (await preferredPort(ports.chain)),
      facilitatorPort: options.facilitatorPort ?? (await preferredPort(ports.facilitator)),
      shopPort: options.shopPort ?? (await preferredPort(ports.shop)),
      finalization: options.finalization,
      batch: options.batch,
      minterKey: options.minterKey,
      decider: options.decider,
      history: options.history,
      say,
      signal: stopping.signal,
      ...(options.fee && { fee: { chargeTo: options.fee, isSplit: options.split } }),
      ...(options.rpcUrl !== undefined && { rpcUrl: options.rpcUrl }),
      ...(options.persist && { persistence: resolve(options.dir, 'chain.jsonl') }),
      ...(options.shop && existsSync(exampleShop) && { shopScript: exampleShop }),
    })
  } catch (error) {
    if (stopping.signal.aborted) process.exit(0)
    process.stderr.write(`svc-devnet could not start: ${(error as Error).message}\n`)
    process.exit(1)
  }
  for (const line of howToAsk(network)) say(line)
  say(`ready: ${writeNetworkFile(network, process.pid)}`)

  const stopped = once(stopping.signal, 'abort').then(() => undefined)
  const failure = await Promise.race([stopped, network.daemonEnded])
  if (failure !== undefined) process.stderr.write(`svc-devnet stops: ${failure}\n`)
  removeNetworkFile(network.directory)
  await network.close()
  process.exit(failure === undefined ? 0 : 1)
}

function parseBlockTime(text: string): number {
  const ms = Number(text)
  if (!Number.isInteger(ms) || ms < 0) throw new InvalidArgumentError('expected whole milliseconds')
  return ms
}

function parsePort(text: string): number {
  const port = Number(text)
  if (!/^\d+$/.test(text) || port > 65_535)
    throw new InvalidArgumentError('expected a port, 0 for any free one')
  return port
}
