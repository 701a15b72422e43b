/** `npm run ceremony -- COMMAND`: the second phase of a trusted setup, see docs/guides/ceremony.md. */
import { randomBytes } from 'node:crypto'
import { parseArgs } from 'node:util'
import { upstreamPowBits } from '@svc-zerc20/zk'
import { catalogue } from '../compiler/catalogue.js'
import { applyBeacon, contribute, finishCeremony, prepareCeremony, verifyCeremony } from './ceremony.js'
import { contributionsMin } from './contribution-record.js'

/**
 * BLAKE2b-512 of `powersOfTau28_hez_final_17.ptau`, as the documentation of snarkjs publishes it. The file is large
 * enough for every circuit; that of 2^16 is too small for the circuit of batches.
 */
const hermez17 =
  '6247a3433948b35fbfae414fa5a9355bfb45f56efa7ab4929e669264a0258976' +
  '741dfbe3288bfb49828e5df02c2e633df38d2245e30162ae7e3bcca5b8b49345'

const usage = `npm run ceremony -- COMMAND --folder FOLDER [options]

  prepare     first keys                      --ptau FILE [--ptau-blake2b HEX] [--pow-bits 16]
  contribute  add this participant's secret   --name NAME
  beacon      add a public random value       --beacon HEX [--iterations-exponent 10]
  verify      check everything from sources   --ptau FILE [--ptau-blake2b HEX] [--pow-bits 16]
              that enough contributed         [--min-contributions ${contributionsMin}]
              and the beacon came last        [--beacon ANNOUNCED-HEX | --unfinished]
              the first phase included        [--skip-first-phase]
  finish      verify, write an artifacts folder: as verify, --beacon ANNOUNCED-HEX and --into FOLDER
`

function fail(error: unknown): never {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
  process.exit(1)
}

const options = {
  allowPositionals: true,
  options: {
    help: { type: 'boolean', short: 'h', default: false },
    folder: { type: 'string' },
    ptau: { type: 'string' },
    'ptau-blake2b': { type: 'string', default: hermez17 },
    'pow-bits': { type: 'string', default: String(upstreamPowBits[2]) },
    name: { type: 'string' },
    beacon: { type: 'string' },
    'iterations-exponent': { type: 'string', default: '10' },
    into: { type: 'string' },
    'min-contributions': { type: 'string', default: String(contributionsMin) },
    unfinished: { type: 'boolean', default: false },
    'skip-first-phase': { type: 'boolean', default: false },
  },
} as const

function readArguments() {
  try {
    return parseArgs(options)
  } catch (error) {
    return fail(`${error instanceof Error ? error.message : error}\n\n${usage}`)
  }
}

const { values, positionals } = readArguments()

type Option = Exclude<keyof typeof values, 'help' | 'unfinished' | 'skip-first-phase'>

function needed(option: Option): string {
  const value = values[option]
  if (value === undefined) throw new Error(`--${option} is missing\n\n${usage}`)
  return value
}

async function run(command: string | undefined): Promise<void> {
  if (values.help) {
    process.stdout.write(usage)
    return
  }
  const onProgress = (line: string) => process.stdout.write(`${line}\n`)
  const powBits = Number(needed('pow-bits'))
  const step = () => ({ folder: needed('folder'), onProgress })
  const whole = () => ({
    ...step(),
    circuits: catalogue(powBits),
    powersOfTau: { file: needed('ptau'), blake2b: needed('ptau-blake2b') },
  })
  const judged = () => ({
    ...whole(),
    minContributions: Number(needed('min-contributions')),
    skipFirstPhase: values['skip-first-phase'],
  })
  switch (command) {
    case 'prepare':
      return prepareCeremony(whole())
    case 'contribute':
      await contribute({ ...step(), participant: needed('name'), random: randomBytes })
      return
    case 'beacon':
      await applyBeacon({
        ...step(),
        beacon: needed('beacon'),
        iterationsExponent: Number(needed('iterations-exponent')),
      })
      return
    case 'verify':
      return verifyCeremony({
        ...judged(),
        unfinished: values.unfinished,
        ...(values.beacon !== undefined && { beacon: values.beacon }),
      })
    case 'finish':
      return finishCeremony({ ...judged(), beacon: needed('beacon'), into: needed('into'), powBits })
    default:
      throw new Error(usage)
  }
}

try {
  await run(positionals[0])
  // snarkjs leaves threads running, which would keep the process alive.
  process.exit(0)
} catch (error) {
  fail(error)
}
