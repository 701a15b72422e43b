/** The options of `svc-devnet`. */
import { Command, InvalidArgumentError, Option } from 'commander'

export type Options = {
  rpcUrl?: string
  dir: string
  chainPort?: number
  facilitatorPort?: number
  shopPort?: number
  storefrontPort?: number
  blockTime: number
  shop: boolean
  finalization: boolean
  batch: boolean
  minterKey: boolean
  fee?: 'payer' | 'provider'
  split: boolean
  decider: boolean
  history: boolean
  postgres: boolean
}

/** The default ports of clients. */
export const ports = { chain: 8545, facilitator: 4032, shop: 4021, storefront: 4020 } as const

export function createProgram(run: (options: Options, program: Command) => Promise<void>): Command {
  return new Command('svc-devnet')
    .description(
      'A local network for svc-zerc20: chain, contracts, indexer, facilitator and an example shop.',
    )
    .version('0.1.0')
    .option('--rpc-url <url>', 'deploy to this node (anvil, geth …) instead of starting a chain')
    .option('--dir <folder>', 'where network.json, configuration and logs are written', '.devnet')
    .option('--chain-port <port>', `port of the chain; ${ports.chain} when it is free, else any`, parsePort)
    .option('--facilitator-port <port>', `the same for the facilitator; ${ports.facilitator}`, parsePort)
    .option('--shop-port <port>', `the same for the shop; ${ports.shop}`, parsePort)
    .option(
      '--storefront-port <port>',
      `the same for the shop in a browser, with a development wallet; ${ports.storefront}`,
      parsePort,
    )
    .option(
      '--block-time <ms>',
      'time between blocks; 0 mines every transaction at once',
      parseBlockTime,
      1000,
    )
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
    .option(
      '--postgres',
      'two facilitators on one PostgreSQL database; the active one is killed in the tour of npm start',
      false,
    )
    .option('--no-finalization', 'no indexer and no proofs: payments are accepted and wait')
    .action(run)
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
