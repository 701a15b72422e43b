/** `npm run bench:prove`: our prover and a plain call of snarkjs, on the same circuits and keys, in one run. */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ensureArtifacts } from '@svc-zerc20/circuits'
import { createProver } from '@svc-zerc20/prover'
import { batchShape, type CircuitInput, type CircuitName, keysOf, readArtifacts } from '@svc-zerc20/zk'
import { batchSample, rootSample, withdrawSample } from '../inputs/circuits.js'
import { type Child, startChild } from '../processes/child.js'
import type { ReferenceQuestion } from '../processes/snarkjs.js'
import { cpuMs, residentMemory } from '../processes/usage.js'
import { judge, median, say, seconds } from '../say.js'

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '5' } } })
const roundsAsked = Number(values.rounds)
/** Wanted of a mint proof, against snarkjs. */
const cpuRatioMax = 0.2
const folder = await ensureArtifacts({ batch: true, onProgress: say })
const { manifest } = await readArtifacts(folder)

type Sample = { readonly wallMs: number; readonly cpuMs: number }
type Contestant = {
  readonly pid: () => number
  readonly prove: () => Promise<unknown>
  readonly stop: () => Promise<void>
}

async function ours(circuit: CircuitName, input: CircuitInput): Promise<Contestant> {
  const prover = createProver({ folder, processes: 1 })
  return {
    pid: () => prover.pids()[0] ?? 0,
    prove: () => prover.prove(circuit, input),
    stop: () => prover.close(),
  }
}

async function plain(circuit: CircuitName, input: CircuitInput): Promise<Contestant> {
  const child: Child<object> = await startChild({ module: 'snarkjs' })
  const { witness, provingKey } = keysOf(manifest, circuit)
  const question: ReferenceQuestion = {
    input: JSON.parse(
      JSON.stringify(input, (_, value) => (typeof value === 'bigint' ? String(value) : value)),
    ),
    witnessFile: join(folder, witness.file),
    keyFile: join(folder, provingKey.file),
  }
  return { pid: () => child.pid, prove: () => child.ask(question), stop: () => child.stop() }
}

async function sample({ prove, pid }: Contestant): Promise<Sample> {
  const [startedAt, cpuBefore] = [performance.now(), cpuMs(pid()) ?? 0]
  await prove()
  return { wallMs: performance.now() - startedAt, cpuMs: (cpuMs(pid()) ?? 0) - cpuBefore }
}

function line(name: string, first: Sample, samples: readonly Sample[], peakBytes: number): string {
  const wall = seconds(median(samples.map(({ wallMs }) => wallMs))).padStart(8)
  const cpu = seconds(median(samples.map(({ cpuMs: used }) => used))).padStart(8)
  const peak = `${(peakBytes / 1e6).toFixed(0)} MB`.padStart(7)
  return `  ${name.padEnd(9)} ${wall}  CPU ${cpu}  peak ${peak}  first proof ${seconds(first.wallMs).padStart(8)}`
}

/** Gives the processor time of one of our proofs, in milliseconds, and its ratio to that of snarkjs. */
async function compare(
  circuit: CircuitName,
  input: CircuitInput,
  rounds = roundsAsked,
): Promise<{ readonly cpuMs: number; readonly cpuRatio: number }> {
  const { constraints, domain } = keysOf(manifest, circuit)
  say(`${circuit}: ${constraints} constraints, domain ${domain}, median of ${rounds} warm proofs each`)
  const contestants = { ours: await ours(circuit, input), snarkjs: await plain(circuit, input) }
  try {
    const first = { ours: await sample(contestants.ours), snarkjs: await sample(contestants.snarkjs) }
    const samples = { ours: [] as Sample[], snarkjs: [] as Sample[] }
    // In turns, so that other load on the machine affects both alike.
    for (let round = 0; round < rounds; round++) {
      samples.ours.push(await sample(contestants.ours))
      samples.snarkjs.push(await sample(contestants.snarkjs))
    }
    for (const name of ['ours', 'snarkjs'] as const) {
      const { rssPeakBytes = 0 } = residentMemory(contestants[name].pid())
      say(line(name, first[name], samples[name], rssPeakBytes))
    }
    const ratio = (of: (sample: Sample) => number) =>
      median(samples.ours.map(of)) / median(samples.snarkjs.map(of))
    const cpuRatio = ratio(({ cpuMs: used }) => used)
    say(`  ours ÷ snarkjs: wall ${ratio(({ wallMs }) => wallMs).toFixed(2)}, CPU ${cpuRatio.toFixed(2)}`)
    return { cpuMs: median(samples.ours.map(({ cpuMs: used }) => used)), cpuRatio }
  } finally {
    await Promise.all([contestants.ours.stop(), contestants.snarkjs.stop()])
  }
}

const single = await compare('withdraw-local', withdrawSample(manifest.powBits))
await compare('root-16', rootSample('root-16'))
await compare('root-64', rootSample('root-64'))
// Fewer rounds: snarkjs takes a minute of both cores for each.
const batch = await compare(
  'batch-withdraw',
  batchSample(manifest.powBits, batchShape.slots),
  Math.min(2, roundsAsked),
)
const each = batch.cpuMs / batchShape.slots
say(
  `a payment in a batch of ${batchShape.slots}: CPU ${seconds(each)}, ${(each / single.cpuMs).toFixed(2)} of a single mint`,
)
judge(
  single.cpuRatio <= cpuRatioMax,
  `CPU of a mint proof ≤ ${cpuRatioMax} of snarkjs: ${single.cpuRatio.toFixed(2)}`,
)
