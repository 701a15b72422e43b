/** The command line of the observer: options and help. */
import { fileURLToPath } from 'node:url'
import { type Address, parseAddress } from '@svc-zerc20/protocol'
import { Command, InvalidArgumentError, Option } from 'commander'

export type Arguments = {
  readonly seed: string
  readonly payments: number
  readonly prices: readonly [bigint, ...bigint[]]
  readonly perMinute: number
  readonly facilitators: number
  readonly delays: readonly number[]
  readonly epochSeconds: number
  readonly batchLeast: number
  readonly minAmount: bigint
  readonly batchWaitSeconds: number
  readonly batchJitterSeconds: number
  readonly rpc?: string
  readonly token?: Address
  readonly verifier?: Address
  readonly fromBlock: number
  readonly page: string
  readonly json: boolean
}

const help = `
Without --rpc it simulates: the same payments are minted one by one and in batches, and the observer is scored
against the truth. With --rpc it reads a real history and names what it can; nobody tells it the truth then.

The observer knows only what the chain shows: amounts, times, order, senders and roots.

Examples:
  npm run privacy
  npm run privacy -- --payments 400 --prices 1000,5000 --per-minute 0.5 --seed 7
  npm run privacy -- --rpc http://127.0.0.1:8545 --token 0x… --verifier 0x… --json`

export function createProgram(run: (args: Arguments) => Promise<void>): Command {
  return new Command('privacy')
    .description("Plays the chain's observer: how often it links a burn and a mint.")
    .showHelpAfterError('(add --help for usage)')
    .option('--seed <text>', 'the same seed draws the same history', '1')
    .option('--payments <number>', 'payments of a history', count(1, 5_000), 200)
    .addOption(listOption('--prices <list>', 'price points in base units', prices, '10000,50000,250000'))
    .option('--per-minute <number>', 'payments a minute', positive, 2)
    .option('--facilitators <number>', 'facilitators on the token, in the second table', count(2, 50), 5)
    .addOption(
      listOption('--delays <list>', 'values of finalize.delay_max_ms, in seconds', seconds, '60,600'),
    )
    .option('--epoch-seconds <number>', 'finalize.epoch_seconds', count(1, 31_536_000), 86_400)
    .option('--batch-least <number>', 'finalize.batch_least', count(1, 30), 20)
    .addOption(
      listOption(
        '--min-amount <units>',
        'settlement.min_amount, base units',
        (text) => prices(text)[0],
        '10000',
      ),
    )
    .option(
      '--batch-wait-seconds <number>',
      'finalize.batch_wait_max_ms, in seconds',
      count(1, 604_800),
      21_600,
    )
    .option('--batch-jitter-seconds <number>', 'finalize.batch_jitter_ms, in seconds', count(0, 86_400), 600)
    .option('--rpc <url>', 'reads a history from this node instead')
    .option('--token <address>', 'token of that history', address)
    .option('--verifier <address>', "the token's verifier", address)
    .option('--from-block <number>', 'first block of that history', count(0, Number.MAX_SAFE_INTEGER), 0)
    .addOption(
      new Option('--page <file>', 'where the charts are written, without --rpc and --json').default(
        fileURLToPath(new URL('../results/latest.html', import.meta.url)),
        'tools/observer/results/latest.html',
      ),
    )
    .option('--json', 'figures for programs', false)
    .addHelpText('after', help)
    .action((args: Arguments) => run(args))
}

const listOption = <T>(flags: string, about: string, read: (text: string) => T, usual: string): Option =>
  new Option(flags, about).argParser(read).default(read(usual), usual)

function count(min: number, max: number): (text: string) => number {
  return (text) => {
    const number = Number(text)
    if (!/^\d+$/.test(text) || number < min || number > max) {
      throw new InvalidArgumentError(`a whole number from ${min} to ${max}.`)
    }
    return number
  }
}

function positive(text: string): number {
  const number = Number(text)
  if (!/^\d+(?:\.\d+)?$/.test(text) || number < 0.01 || number > 10_000) {
    throw new InvalidArgumentError('a number from 0.01 to 10000.')
  }
  return number
}

function prices(text: string): readonly [bigint, ...bigint[]] {
  const [first, ...rest] = text.split(',').map((price) => {
    if (!/^[1-9]\d{0,76}$/.test(price)) throw new InvalidArgumentError('whole base units, such as 1000,5000.')
    return BigInt(price)
  })
  return [first ?? 0n, ...rest]
}

const seconds = (text: string): readonly number[] => text.split(',').map(count(1, 86_400))

function address(text: string): Address {
  const parsed = parseAddress(text)
  if (parsed === undefined) throw new InvalidArgumentError('0x and 40 hex digits.')
  return parsed
}
