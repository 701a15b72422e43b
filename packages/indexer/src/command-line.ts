/** The command line of `svc-indexer`: options and help. The caller provides the work that they start. */
import { exitCodes } from '@svc-zerc20/daemon'
import { Command, InvalidArgumentError, Option } from 'commander'
import { proverKeyName } from './env.js'
import { defaultCeilingGwei } from './root/gas-price-ceiling.js'

/** The choices of the command line and the environment. */
export type Arguments = {
  readonly rpcUrl: string
  readonly chainId: number
  readonly token: string
  readonly verifier: string
  readonly folder: string
  readonly listen: { readonly host: string; readonly port: number }
  readonly fromBlock: number
  readonly confirmations: number
  readonly pollMs: number
  readonly label: string
  readonly artifacts?: string
  readonly gatherMs: number
  readonly mintGatherMs: number
  readonly maxFeeGwei: number
  readonly maxTipGwei: number
}

const help = `
Every option can come from the environment: SVC_INDEXER_RPC_URL for --rpc-url, and so on.
The key of the account that proves roots comes from the environment only:
  ${proverKeyName}  64 hex digits; needs --artifacts, an allowance of the verifier and money for gas

Logs JSON lines to standard output; "indexer.ready" tells the URL. SIGTERM or SIGINT ends it.

Examples:
  svc-indexer --rpc-url http://127.0.0.1:8545 --chain-id 31337 --token 0x… --verifier 0x… --folder indexer

Exit codes:
  ${exitCodes.ok}   stopped
  ${exitCodes.mistake}   a mistake in options or environment, or a folder of another token; fix it first
  ${exitCodes.tryAgain}  nothing to fix here, for example the RPC is down; try again later`

/** Builds the program; `parseAsync` runs it. */
export function createProgram(version: string, run: (args: Arguments) => Promise<void>): Command {
  const option = (flags: string, description: string) => {
    const made = new Option(flags, description)
    return made.env(`SVC_INDEXER_${made.name().replaceAll('-', '_').toUpperCase()}`)
  }
  return new Command('svc-indexer')
    .description(
      'Follows a zERC20 token: serves its transfers and Merkle paths over HTTP, and can prove its roots.',
    )
    .version(version)
    .showHelpAfterError('(add --help for usage)')
    .addOption(option('--rpc-url <url>', 'JSON-RPC of a node').makeOptionMandatory())
    .addOption(option('--chain-id <number>', 'chain of the token').argParser(count).makeOptionMandatory())
    .addOption(option('--token <address>', 'token to follow').makeOptionMandatory())
    .addOption(option('--verifier <address>', "the token's verifier").makeOptionMandatory())
    .addOption(option('--folder <path>', 'database; created when missing').makeOptionMandatory())
    .addOption(
      option('--listen <host:port>', 'where to serve')
        .argParser(endpoint)
        .default(endpoint('127.0.0.1:8080'), '127.0.0.1:8080'),
    )
    .addOption(option('--from-block <number>', "block of the token's deployment").argParser(count).default(0))
    .addOption(
      option('--confirmations <blocks>', 'blocks upon a block before it is read').argParser(count).default(0),
    )
    .addOption(
      option('--poll-ms <ms>', 'pause between two looks at the chain').argParser(count).default(1_000),
    )
    .addOption(option('--label <text>', 'what /status calls the token').default('zerc20'))
    .addOption(option('--artifacts <folder>', 'proving keys; with the key, roots are proved too'))
    .addOption(
      option('--gather-ms <ms>', 'unproved transfers wait so long for company')
        .argParser(count)
        .default(2_000),
    )
    .addOption(
      option('--mint-gather-ms <ms>', 'the same when all of them are mints').argParser(count).default(60_000),
    )
    .addOption(
      option('--max-fee-gwei <gwei>', 'most that a root transaction offers for a unit of gas')
        .argParser(gwei)
        .default(defaultCeilingGwei.maxFeeGwei),
    )
    .addOption(
      option('--max-tip-gwei <gwei>', 'most of it that is a tip; a suggested one is believed up to the half')
        .argParser(gwei)
        .default(defaultCeilingGwei.maxTipGwei),
    )
    .addHelpText('after', help)
    .action(run)
}

function count(text: string): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value))
    throw new InvalidArgumentError('expected a whole number')
  return value
}

function gwei(text: string): number {
  const value = count(text)
  if (value < 1 || value > 1_000_000) throw new InvalidArgumentError('expected 1 to 1000000')
  return value
}

function endpoint(text: string): { host: string; port: number } {
  const [, host, port] = /^\[?([^\]]+)\]?:(\d{1,5})$/.exec(text) ?? []
  if (host === undefined || Number(port) > 65_535) throw new InvalidArgumentError('expected host:port')
  return { host, port: Number(port) }
}
