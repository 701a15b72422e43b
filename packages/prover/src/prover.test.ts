import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { getPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { ensureArtifacts } from '@svc-zerc20/circuits'
import { createProver, type Proof, type Prover } from '@svc-zerc20/prover'
import { type NeededCircuit, readArtifacts } from '@svc-zerc20/zk'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { lightArtifacts } from '../../../test/support/light-artifacts.js'
import { sampleInput } from '../test/samples.js'
import { createVerify } from './verify.js'

const verifyChild = fileURLToPath(new URL('../test/verify-child.mjs', import.meta.url))

let folder: string
/** Keys whose proofs cost little, for tests of the processes. */
let light: string
let powBits: number
let prover: Prover
beforeAll(async () => {
  folder = await ensureArtifacts()
  light = await lightArtifacts()
  powBits = (await readArtifacts(folder)).manifest.powBits
  prover = createProver({ folder, processes: 1, warm: ['withdraw-local'] })
})
afterAll(() => prover.close())

/** Whether our own verification accepts a proof; the first test compares it with snarkjs. */
async function holds(circuit: NeededCircuit, proof: Proof | undefined, keys = folder): Promise<boolean> {
  const { circuits } = (await readArtifacts(keys)).manifest
  return proof !== undefined && createVerify(circuits[circuit].verificationKey)(proof)
}

/** Whether snarkjs accepts each proof. */
async function snarkjsHolds(proofs: readonly (Proof & { circuit: NeededCircuit })[]): Promise<boolean[]> {
  const texts = proofs.map(({ circuit, proof, signals }) => ({
    circuit,
    proof: proof.map(String),
    signals: signals.map(String),
  }))
  const { stdout } = await promisify(execFile)(process.execPath, [verifyChild, folder, JSON.stringify(texts)])
  return JSON.parse(stdout)
}

const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => expect.unreachable('there should be no proof'),
    (error) => error,
  )

describe('proofs', () => {
  // Those of every circuit are verified by the contracts, in `contracts/test/proofs.test.ts`.
  test('of both kinds of circuit hold for snarkjs and for us, and for nothing else than was proven', async () => {
    const all: (Proof & { circuit: NeededCircuit })[] = []
    for (const circuit of ['withdraw-local', 'root-16'] as const) {
      const input = sampleInput(circuit, powBits)
      const proof = await prover.prove(circuit, input)
      const publicNames = circuit.startsWith('withdraw')
        ? ['root', 'recipient', 'withdrawValue']
        : ['oldIndex', 'oldRoot', 'newIndex', 'newRoot', 'z', 'y']
      expect(proof.signals).toEqual(publicNames.map((name) => input[name]))
      const [first = 0n, ...others] = proof.signals
      all.push({ circuit, ...proof }, { circuit, proof: proof.proof, signals: [first + 1n, ...others] })
    }
    const expected = all.map((_, at) => at % 2 === 0)
    expect(await snarkjsHolds(all)).toEqual(expected)
    expect(await Promise.all(all.map(({ circuit, ...proof }) => holds(circuit, proof)))).toEqual(expected)
  })

  test('of the same inputs differ, and proofs of different inputs hold one after the other', async () => {
    const pool = createProver({ folder: light, processes: 1 })
    const prove = (seed: number) => pool.prove('withdraw-local', sampleInput('withdraw-local', powBits, seed))
    try {
      const [first, second, third] = [await prove(3), await prove(3), await prove(4)]
      expect(first.proof).not.toEqual(second.proof)
      for (const proof of [first, second, third])
        expect(await holds('withdraw-local', proof, light)).toBe(true)
    } finally {
      await pool.close()
    }
  })
})

describe('a proving process', () => {
  test('survives inputs that are wrong, and names what is wrong with them', async () => {
    const [pid] = prover.pids()
    const input = sampleInput('withdraw-local', powBits)
    const wrong = [
      { ...input, value: 5n },
      { ...input, siblings: [1n, 2n] },
      { ...input, value: -1n },
      { ...input, unknown: 1n },
      { root: 1n },
    ]
    for (const each of wrong) {
      expect(await failure(prover.prove('withdraw-local', each))).toMatchObject({
        name: 'ProverError',
        code: 'bad_input',
      })
    }
    expect(await failure(prover.prove('no-circuit', input))).toMatchObject({ code: 'bad_artifacts' })
    expect(await holds('withdraw-local', await prover.prove('withdraw-local', input))).toBe(true)
    expect(prover.pids()).toEqual([pid])
  })

  test('starts as nice as a daemon that is very nice, because nobody but an administrator may be less', async () => {
    const program = fileURLToPath(new URL('../dist/proving-process.js', import.meta.url))
    const child = spawn('nice', ['-n', '15', process.execPath, program, folder], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    try {
      child.send({ kind: 'warm', id: 1, circuit: 'no-circuit' })
      expect((await once(child, 'message'))[0]).toMatchObject({ kind: 'failed', code: 'bad_artifacts' })
      expect(getPriority(child.pid)).toBeGreaterThanOrEqual(15)
    } finally {
      child.kill('SIGKILL')
    }
  })

  test('that is killed tells its job so, and another takes its place', async () => {
    const input = sampleInput('withdraw-local', powBits)
    const pool = createProver({ folder: light, processes: 1, warm: ['withdraw-local'] })
    try {
      await pool.prove('withdraw-local', input)
      const [pid = 0] = pool.pids()
      const interrupted = failure(pool.prove('withdraw-local', input))
      const waiting = pool.prove('withdraw-local', input)
      process.kill(pid, 'SIGKILL')
      expect(await interrupted).toMatchObject({ code: 'prover_crashed' })
      expect(await holds('withdraw-local', await waiting, light)).toBe(true)
      expect(pool.pids()).not.toContain(pid)
    } finally {
      await pool.close()
    }
  })

  test('stops a proof that is cancelled, and stays', async () => {
    const input = sampleInput('withdraw-local', powBits)
    const [pid] = prover.pids()
    const running = new AbortController()
    const queued = new AbortController()
    const first = failure(
      prover.prove('root-16', sampleInput('root-16', powBits), { signal: running.signal }),
    )
    const second = failure(prover.prove('withdraw-local', input, { signal: queued.signal }))
    const third = prover.prove('withdraw-local', input)
    queued.abort()
    running.abort('no longer needed')
    expect(await first).toMatchObject({ code: 'prove_cancelled', cause: 'no longer needed' })
    expect(await second).toMatchObject({ code: 'prove_cancelled' })
    expect((await third).proof).toHaveLength(8)
    const before = failure(prover.prove('withdraw-local', input, { signal: AbortSignal.abort() }))
    expect(await before).toMatchObject({ code: 'prove_cancelled' })
    expect(prover.pids()).toEqual([pid])
  })

  test('refuses a key that is not the one of the manifest', async () => {
    const altered = await mkdtemp(join(tmpdir(), 'svc-prover-'))
    const elsewhere = createProver({ folder: altered, processes: 1 })
    const input = sampleInput('withdraw-local', powBits)
    try {
      expect(await failure(elsewhere.prove('withdraw-local', input))).toMatchObject({ code: 'bad_artifacts' })
      for (const file of ['manifest.json', 'withdraw-local.wasm', 'withdraw-local.zkey']) {
        await copyFile(join(light, file), join(altered, file))
      }
      const key = await readFile(join(light, 'withdraw-local.zkey'))
      key[key.length >> 1] = (key[key.length >> 1] ?? 0) ^ 1
      await writeFile(join(altered, 'withdraw-local.zkey'), key)
      expect(await failure(elsewhere.prove('withdraw-local', input))).toMatchObject({ code: 'bad_artifacts' })
    } finally {
      await elsewhere.close()
      await rm(altered, { recursive: true })
    }
  })

  test('dies rather than hand out a proof that its verifier would refuse', async () => {
    const mixed = await mkdtemp(join(tmpdir(), 'svc-prover-'))
    const elsewhere = createProver({ folder: mixed, processes: 1 })
    try {
      for (const file of ['withdraw-local.wasm', 'withdraw-local.zkey']) {
        await copyFile(join(light, file), join(mixed, file))
      }
      const { manifest } = await readArtifacts(light)
      const { verificationKey, verificationKeyHash } = manifest.circuits['withdraw-global']
      const local = { ...manifest.circuits['withdraw-local'], verificationKey, verificationKeyHash }
      const circuits = { ...manifest.circuits, 'withdraw-local': local }
      await writeFile(join(mixed, 'manifest.json'), JSON.stringify({ ...manifest, circuits }))
      const input = sampleInput('withdraw-local', powBits)
      expect(await failure(elsewhere.prove('withdraw-local', input))).toMatchObject({
        code: 'prover_crashed',
      })
    } finally {
      await elsewhere.close()
      await rm(mixed, { recursive: true })
    }
  })
})

test('two processes prove at the same time, and closing ends them with what they were at', async () => {
  const input = sampleInput('withdraw-local', powBits)
  const pool = createProver({ folder: light, processes: 2, warm: ['withdraw-local', 'withdraw-local'] })
  const proofs = await Promise.all([pool.prove('withdraw-local', input), pool.prove('withdraw-local', input)])
  for (const proof of proofs) expect(await holds('withdraw-local', proof, light)).toBe(true)
  const pids = pool.pids()
  expect(new Set(pids).size).toBe(2)
  const unfinished = [1, 2, 3].map(() => failure(pool.prove('withdraw-local', input)))
  await pool.close()
  for (const each of unfinished) expect(await each).toMatchObject({ code: 'prover_closed' })
  for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow()
  expect(await failure(pool.prove('withdraw-local', input))).toMatchObject({ code: 'prover_closed' })
})

test('a prover takes only so many jobs, and none without a process', async () => {
  const input = sampleInput('withdraw-local', powBits)
  const pool = createProver({ folder, processes: 1 })
  const jobs = Array.from({ length: 1025 }, () => failure(pool.prove('withdraw-local', input)))
  expect(await failure(pool.prove('withdraw-local', input))).toMatchObject({ code: 'prover_queue_full' })
  await pool.close()
  for (const job of jobs) expect(await job).toMatchObject({ code: 'prover_closed' })
  expect(() => createProver({ folder, processes: 0 })).toThrow()
})
