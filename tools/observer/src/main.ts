/** `npm run privacy`: plays the chain's observer against a simulated or a recorded history. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, relative } from 'node:path'
import { createJsonRpc } from '@svc-zerc20/evm'
import { type Address, parseUrl, SvcError } from '@svc-zerc20/protocol'
import { type Arguments, createProgram } from './command-line.js'
import { companyOf, namesOf } from './observe/guess.js'
import { observe } from './observe/observe.js'
import { readChain } from './record/read-chain.js'
import { resultsPage } from './report/page.js'
import { factorWanted, printRecord, printResults } from './report/print.js'
import { playScenarios, type Settings } from './report/scenarios.js'

const rpcLimits = { timeoutMs: 20_000, answerBytesMax: 64 * 1024 * 1024 }

await createProgram(async (args) => {
  try {
    process.stdout.write(args.rpc === undefined ? simulated(args) : await recorded(args, args.rpc))
  } catch (err) {
    if (!(err instanceof SvcError)) throw err
    process.stderr.write(`fail ${err.message}\n`)
    process.exitCode = 1
  }
}).parseAsync()

function simulated(args: Arguments): string {
  const settings: Settings = {
    seed: args.seed,
    traffic: { payments: args.payments, prices: args.prices, perMinute: args.perMinute },
    facilitators: args.facilitators,
    delaysSeconds: args.delays,
    batches: {
      epochSeconds: args.epochSeconds,
      least: args.batchLeast,
      floor: args.minAmount,
      waitMaxSeconds: args.batchWaitSeconds,
      jitterSeconds: args.batchJitterSeconds,
    },
  }
  const results = playScenarios(settings)
  if (args.json) return json({ ...settings, ...results, factorWanted })
  mkdirSync(dirname(args.page), { recursive: true })
  writeFileSync(args.page, resultsPage(settings, results))
  return `${printResults(settings, results)}\nThe same as charts, for a browser: ${relative(process.cwd(), args.page)}\n`
}

async function recorded(args: Arguments, url: string): Promise<string> {
  const rpc = createJsonRpc({ url: parseRpcUrl(url), ...rpcLimits })
  try {
    const source = { token: need('--token', args.token), verifier: need('--verifier', args.verifier) }
    const guesses = observe(await readChain({ rpc, ...source, fromBlock: args.fromBlock }))
    if (!args.json) return printRecord(guesses)
    const mints = guesses.map((guess) => ({
      ...guess.mint,
      company: companyOf(guess),
      names: namesOf(guess).map((burn) => ({
        leaf: burn.leaf,
        payer: burn.from,
        sure: guess.paid.get(burn) ?? 0,
      })),
    }))
    return json({ mints })
  } finally {
    rpc.close()
  }
}

function parseRpcUrl(url: string): string {
  if (!/^https?:$/.test(parseUrl(url)?.protocol ?? '')) {
    throw new SvcError('bad_option', '--rpc: not an http or https URL')
  }
  return url
}

function need(option: string, value: Address | undefined): Address {
  if (value === undefined) throw new SvcError('bad_option', `--rpc needs ${option}`)
  return value
}

function json(value: unknown): string {
  const asText = (_: string, inner: unknown) => (typeof inner === 'bigint' ? String(inner) : inner)
  return `${JSON.stringify(value, asText, 2)}\n`
}
