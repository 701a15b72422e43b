#!/usr/bin/env node
/** `svc-devnet`: one command, and everything is there to pay and be paid on this machine. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Command, InvalidArgumentError } from 'commander'
import { type LocalNetwork, startLocalNetwork } from './local-network.js'
import type { MiningMode } from './mining.js'
import { removeNetworkFile, writeNetworkFile } from './network-file.js'
import { preferredPort } from './preferred-port.js'

type Options = {
  rpcUrl?: string
  dir: string
  blockTime: number
  shop: boolean
  finalization: boolean
  persist?: boolean
}

/** Where clients look when nobody tells them otherwise. */
const ports = { chain: 8545, facilitator: 4032, shop: 4021 } as const

const exampleShop = fileURLToPath(new URL('../../../examples/dist/shop.js', import.meta.url))

const program = new Command('svc-devnet')
  .description('A local network for svc-zerc20: chain, contracts, indexer, facilitator and an example shop.')
  .version('0.1.0')
  .option('--rpc-url <url>', 'deploy to this node (anvil, geth …) instead of starting a chain')
  .option('--dir <folder>', 'where network.json, configuration and logs are written', '.devnet')
  .option('--block-time <ms>', 'time between blocks; 0 mines every transaction at once', parseBlockTime, 1000)
  .option('--persist', 'keep the embedded chain in the folder and go on with it next time')
  .option('--no-shop', 'do not start the example shop')
  .option('--no-finalization', 'no indexer and no proofs: payments are accepted and wait')
  .action(run)

await program.parseAsync()

async function run(options: Options): Promise<void> {
  const say = (line: string) => process.stdout.write(`${line}\n`)
  removeNetworkFile(resolve(options.dir))
  const mining: MiningMode =
    options.blockTime === 0 ? { mode: 'instant' } : { mode: 'interval', intervalMs: options.blockTime }
  let network: LocalNetwork
  try {
    network = await startLocalNetwork({
      directory: options.dir,
      mining,
      chainPort: await preferredPort(ports.chain),
      facilitatorPort: await preferredPort(ports.facilitator),
      shopPort: await preferredPort(ports.shop),
      finalization: options.finalization,
      say,
      ...(options.rpcUrl !== undefined && { rpcUrl: options.rpcUrl }),
      ...(options.persist && { persistence: resolve(options.dir, 'chain.jsonl') }),
      ...(options.shop && existsSync(exampleShop) && { shopScript: exampleShop }),
    })
  } catch (error) {
    process.stderr.write(`svc-devnet could not start: ${(error as Error).message}\n`)
    process.exit(1)
  }
  say(`ready: ${writeNetworkFile(network, process.pid)}`)

  let stopping = false
  const stop = async (exitCode: number) => {
    if (stopping) return
    stopping = true
    removeNetworkFile(network.directory)
    await network.close()
    process.exit(exitCode)
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stop(0))
  const how = await network.daemonEnded
  if (!stopping) process.stderr.write(`svc-devnet stops: ${how}\n`)
  await stop(1)
}

function parseBlockTime(text: string): number {
  const ms = Number(text)
  if (!Number.isInteger(ms) || ms < 0) throw new InvalidArgumentError('expected whole milliseconds')
  return ms
}
