import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import {
  burnHash,
  type CircuitInput,
  circuitNames,
  hash3,
  type Manifest,
  type NeededCircuit,
  neededCircuits,
  readArtifacts,
  rootOfPath,
  type VerificationKey,
} from '@svc-zerc20/zk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
// The built module, because its threads need built files.
import { ensureDevelopment } from '../../dist/artifacts/ensure-artifacts.js'
// @ts-expect-error shared with processes that run without a build
import { smallCircuits } from '../../test/small-circuits.mjs'
import type { Catalogue } from '../compiler/catalogue.js'
import { folderName, hashSources } from './cache-key.js'

const script = (name: string) => fileURLToPath(new URL(`../../test/${name}`, import.meta.url))

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-artifacts-'))
})
afterAll(() => rm(folder, { recursive: true }))

const startBuild = () => spawn(process.execPath, [script('ensure-child.mjs'), folder])
const exitOf = (child: ChildProcess) => new Promise((resolve) => child.once('exit', resolve))

/** The folder that a build prints. */
async function readyOf(child: ChildProcess): Promise<string | undefined> {
  let text = ''
  child.stdout?.on('data', (chunk) => (text += chunk))
  await new Promise((resolve) => child.once('close', resolve))
  return /^ready (.+)$/m.exec(text)?.[1]
}

// In sequence: each test uses the files of the one before.
describe.sequential('building artifacts', () => {
  let target: string
  let manifest: Manifest

  it('leaves nothing that looks complete when it is killed', async () => {
    const child = startBuild()
    const ended = exitOf(child)
    await new Promise((resolve) => child.stdout.once('data', resolve))
    child.kill('SIGKILL')
    await ended
    expect((await readdir(folder)).filter((name) => name.startsWith('development'))).toEqual([])
    expect((await readdir(folder)).filter((name) => name.startsWith('.building'))).toHaveLength(1)
  })

  it('gives two processes at once the same set, and clears up', async () => {
    const [first, second] = await Promise.all([readyOf(startBuild()), readyOf(startBuild())])
    target = first ?? ''
    expect(second).toBe(first)
    expect(await readdir(folder)).toEqual([basename(target)])
    manifest = (await readArtifacts(target)).manifest
    expect(manifest).toMatchObject({ format: 1, setup: 'development', generation: 2, powBits: 0 })
    expect(Object.keys(manifest.circuits)).toEqual([...neededCircuits])
  })

  it('has files of the hashes that the manifest gives', async () => {
    const { read } = await readArtifacts(target)
    for (const name of neededCircuits) {
      expect((await read(name, 'witness')).length).toBeGreaterThan(0)
      expect((await read(name, 'provingKey')).length).toBeGreaterThan(0)
    }
  })

  const value = 5n
  const siblings = [8n]
  const secret = 3n
  const to = burnHash(2, 7n, secret) & ((1n << 160n) - 1n)
  const inputs: Record<NeededCircuit, CircuitInput> = {
    'withdraw-local': {
      root: rootOfPath(hash3(9n, to, value), 1, siblings),
      recipient: 7n,
      withdrawValue: value,
      value,
      delta: 0n,
      secret,
      from: 9n,
      leafIndex: 1n,
      siblings,
    },
    'withdraw-global': { in: 200n },
    'root-16': { in: 60n },
    'root-64': { in: 1_000_000n },
  }

  it('makes keys that snarkjs proves and verifies with', async () => {
    const texts = JSON.stringify(inputs, (_, item) => (typeof item === 'bigint' ? String(item) : item))
    const args = [script('prove-child.mjs'), target, texts]
    const answers = JSON.parse((await promisify(execFile)(process.execPath, args)).stdout)
    for (const name of neededCircuits) {
      const { verified, forged, key } = answers[name]
      expect({ name, verified, forged }).toEqual({ name, verified: true, forged: false })
      expect(asSnarkjs(manifest.circuits[name].verificationKey)).toEqual({
        vk_alpha_1: key.vk_alpha_1,
        vk_beta_2: key.vk_beta_2,
        vk_gamma_2: key.vk_gamma_2,
        vk_delta_2: key.vk_delta_2,
        IC: key.IC,
      })
    }
  })

  const ensure = async ({ batch = false } = {}) => {
    const lines: string[] = []
    const circuits = smallCircuits as Catalogue
    const answer = await ensureDevelopment({
      folder,
      powBits: 0,
      batch,
      circuits,
      onProgress: (line) => lines.push(line),
    })
    return { answer, lines }
  }

  it('does nothing when all is there', async () => {
    expect(await ensure()).toEqual({ answer: target, lines: [] })
  })

  it('adds the keys of batches to a set in use when they are asked for, and keeps all others', async () => {
    const { answer, lines } = await ensure({ batch: true })
    expect(answer).toBe(target)
    // A slow machine also tells how far it is.
    expect(lines.filter((line) => !line.endsWith('%'))).toEqual([
      'circuits: compiling batch-withdraw',
      expect.stringMatching(/^circuits: 1 of 1, keys of batch-withdraw \(\d+ constraints\)$/),
    ])
    const { manifest: grown, read } = await readArtifacts(target)
    const { 'batch-withdraw': _, ...kept } = grown.circuits
    expect({ ...grown, circuits: kept }).toEqual(manifest)
    expect(await read('batch-withdraw', 'provingKey')).not.toHaveLength(0)
    for (const batch of [true, false]) expect(await ensure({ batch })).toEqual({ answer: target, lines: [] })
    // A lost file of batches is nothing to those who do not ask for batches.
    await rm(join(target, 'batch-withdraw.zkey'))
    expect(await ensure()).toEqual({ answer: target, lines: [] })
  })

  it('makes a new set, with new secrets, when a file was lost', async () => {
    await rm(join(target, 'root-16.zkey'))
    // The lock of a process that is gone blocks nobody.
    await writeFile(join(folder, 'building.lock'), '999999999')
    const { answer, lines } = await ensure({ batch: true })
    expect(answer).toBe(target)
    expect(lines).toContain('circuits: compiling root-16')
    expect(lines.at(-1)).toMatch(/^circuits: 5 of 5, keys of .+ \(\d+ constraints\)$/)
    const renewed = (await readArtifacts(target)).manifest
    expect(Object.keys(renewed.circuits)).toEqual([...circuitNames])
    for (const name of neededCircuits) {
      expect(renewed.circuits[name].verificationKeyHash).not.toBe(manifest.circuits[name].verificationKeyHash)
      expect(renewed.circuits[name].witness).toEqual(manifest.circuits[name].witness)
    }
    expect(existsSync(join(folder, 'building.lock'))).toBe(false)
  })
})

it('keys artifacts by sources: the folder name changes with a circuit', async () => {
  const circuits = smallCircuits as Catalogue
  const altered = { ...circuits, 'root-64': { ...circuits['root-64'], component: 'Below(21)' } }
  const [one, other] = await Promise.all([hashSources(circuits), hashSources(altered)])
  expect(new Set([folderName(0, one), folderName(0, other), folderName(1, one)]).size).toBe(3)
})

/** A key as snarkjs prints it: decimal, projective, real limb first. */
function asSnarkjs({ alpha, beta, gamma, delta, ic }: VerificationKey) {
  const decimal = (word: string | undefined) => BigInt(word ?? 0).toString()
  const g1 = (point: readonly string[]) => [decimal(point[0]), decimal(point[1]), '1']
  const g2 = (point: readonly string[]) => [
    [decimal(point[1]), decimal(point[0])],
    [decimal(point[3]), decimal(point[2])],
    ['1', '0'],
  ]
  return {
    vk_alpha_1: g1(alpha),
    vk_beta_2: g2(beta),
    vk_gamma_2: g2(gamma),
    vk_delta_2: g2(delta),
    IC: ic.map(g1),
  }
}
