import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { copyFile, cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { circuitNames, keysOf, readArtifacts } from '@svc-zerc20/zk'
import { curves, powersOfTau as phaseOne } from 'snarkjs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
// @ts-expect-error shared with processes that run without a build
import { tinyCircuits } from '../../test/small-circuits.mjs'
import type { Catalogue, CircuitSource } from '../compiler/catalogue.js'
import { compile } from '../compiler/compile.js'
import { readSections, sectionOf } from '../files/sections.js'
import { applyBeacon, contribute, finishCeremony, prepareCeremony, verifyCeremony } from './ceremony.js'

const circuits = tinyCircuits as Catalogue
const lines: string[] = []
const onProgress = (line: string) => lines.push(line)

/** Bytes that differ in each call, as contributions must. A test needs no secrecy. */
function countingBytes() {
  let calls = 0
  return (count: number) => new Uint8Array(count).fill(++calls)
}

/** Compiles each source once, into a folder that is kept between commands. */
function createCompiler(home: string): typeof compile {
  const compiled = new Map<CircuitSource, ReturnType<typeof compile>>()
  return async (folder, name, source) => {
    const result = compiled.get(source) ?? compileInto(folder, name, source)
    compiled.set(source, result)
    return result
  }

  async function compileInto(folder: string, name: string, source: CircuitSource) {
    const kept = join(home, `compiled-${compiled.size}`)
    await cp(folder, kept, { recursive: true })
    return compile(kept, name, source)
  }
}

describe.sequential('a ceremony', () => {
  let home: string
  let folder: string
  let compileCircuit: typeof compile
  let powersOfTau: { file: string; blake2b: string }
  /** The hashes that each step printed, one for each circuit. */
  let steps: string[][]
  const step = () => ({ folder, onProgress })
  const whole = () => ({ ...step(), circuits, powersOfTau, compileCircuit })

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'svc-ceremony-test-'))
    folder = join(home, 'ceremony')
    compileCircuit = createCompiler(home)
    const curve = await curves.getCurveFromName('bn128')
    const [first, second, last] = ['first', 'second', 'last'].map((name) => join(home, `${name}.ptau`))
    await phaseOne.newAccumulator(curve, 5, first ?? '')
    await phaseOne.contribute(first ?? '', second ?? '', 'test', 'not secret')
    await phaseOne.preparePhase2(second ?? '', last ?? '')
    const file = last ?? ''
    powersOfTau = {
      file,
      blake2b: createHash('blake2b512')
        .update(await readFile(file))
        .digest('hex'),
    }
  })
  afterAll(async () => {
    await (await curves.getCurveFromName('bn128')).terminate()
    await rm(home, { recursive: true })
  })

  it('refuses powers of tau that are not the published ones', async () => {
    const other = { ...powersOfTau, blake2b: '00'.repeat(64) }
    await expect(prepareCeremony({ ...whole(), powersOfTau: other })).rejects.toThrow(
      'not the file of that hash',
    )
  })

  it('starts from keys that anybody could forge with, and says so', async () => {
    await prepareCeremony(whole())
    await expect(verifyCeremony(whole())).rejects.toThrow('delta equals gamma')
    await expect(prepareCeremony(whole())).rejects.toThrow('already holds a ceremony')
  })

  it('names the circuit that is too large for the powers of tau', async () => {
    const tooLarge = {
      ...circuits,
      'batch-withdraw': { ...circuits['batch-withdraw'], component: 'Below(40)' },
    }
    await expect(
      prepareCeremony({ ...whole(), folder: join(home, 'too-large'), circuits: tooLarge }),
    ).rejects.toThrow('batch-withdraw needs powers of tau for 2^6 constraints')
  })

  const beacon = { beacon: 'ab'.repeat(32), iterationsExponent: 10 }
  const refusalOf = (fewer: string, minContributions?: number) =>
    verifyCeremony({ ...whole(), folder: fewer, ...(minContributions !== undefined && { minContributions }) })

  it('with nobody but a beacon is refused, since everybody knows its secret', async () => {
    const fewer = join(home, 'beacon-only')
    await cp(folder, fewer, { recursive: true })
    await applyBeacon({ ...step(), folder: fewer, ...beacon })
    const nobody = 'withdraw-local: 0 contributions beside the beacon, where'
    await expect(refusalOf(fewer)).rejects.toThrow(`${nobody} 2 are asked for`)
    await expect(refusalOf(fewer, 1)).rejects.toThrow(`${nobody} 1 are asked for`)
    await expect(refusalOf(fewer, 0)).rejects.toThrow('needs one contribution at least')
    const into = join(home, 'nothing')
    const asked = { ...whole(), folder: fewer, into, powBits: 16, beacon: beacon.beacon }
    await expect(finishCeremony(asked)).rejects.toThrow(nobody)
    expect(existsSync(into)).toBe(false)
  })

  it('takes contributions and a beacon', async () => {
    const random = countingBytes()
    const first = await contribute({ ...step(), participant: 'one', random })
    await expect(verifyCeremony(whole())).rejects.toThrow('1 contributions beside the beacon, where 2')
    const second = await contribute({ ...step(), participant: 'two\u009b', random })
    await expect(verifyCeremony(whole())).rejects.toThrow(
      'withdraw-local: the last contribution is no beacon',
    )
    await verifyCeremony({ ...whole(), unfinished: true, skipFirstPhase: true })
    expect(lines.at(-1)).toBe('ceremony: there is no beacon yet; these keys are not for use')
    const last = await applyBeacon({ ...step(), ...beacon })
    steps = [first, second, last]
    expect(new Set(steps.flat()).size).toBe(3 * circuitNames.length)
  })

  it('refuses a beacon that is not the announced one, and whatever comes after a beacon', async () => {
    const other = { ...whole(), beacon: 'cd'.repeat(32) }
    await expect(verifyCeremony(other)).rejects.toThrow(
      `withdraw-local: the beacon is ${beacon.beacon}, which is not the announced value`,
    )
    const into = join(home, 'nothing')
    await expect(finishCeremony({ ...other, into, powBits: 16 })).rejects.toThrow('not the announced value')
    const later = join(home, 'later')
    await cp(folder, later, { recursive: true })
    await contribute({ ...step(), folder: later, participant: 'late', random: countingBytes() })
    await expect(refusalOf(later)).rejects.toThrow('the last contribution is no beacon')
    await applyBeacon({ ...step(), folder: later, ...beacon })
    await expect(refusalOf(later)).rejects.toThrow('more than one beacon')
  })

  it('refuses keys whose beacons differ', async () => {
    const mixed = join(home, 'mixed')
    await cp(folder, mixed, { recursive: true })
    for (const name of circuitNames) await rm(join(mixed, `${name}.0003.zkey`))
    await applyBeacon({ ...step(), folder: mixed, ...beacon, beacon: 'ef'.repeat(32) })
    const one = 'withdraw-local.0003.zkey'
    await copyFile(join(folder, one), join(mixed, one))
    await expect(refusalOf(mixed)).rejects.toThrow('the keys have different beacons')
  })

  it('refuses a first phase with the right hash and wrong points', async () => {
    const bytes = await readFile(powersOfTau.file)
    const points = sectionOf(readSections(bytes, 'ptau'), 2)
    points.copyWithin(128, 192, 256)
    const file = join(home, 'wrong.ptau')
    await writeFile(file, bytes)
    const wrong = { file, blake2b: createHash('blake2b512').update(bytes).digest('hex') }
    await expect(verifyCeremony({ ...whole(), powersOfTau: wrong })).rejects.toThrow(
      'is no good first phase: tauG1 section. Powers do not match',
    )
  })

  it('refuses keys of other circuits', async () => {
    const altered = { ...circuits, 'withdraw-local': circuits['root-64'] }
    await expect(verifyCeremony({ ...whole(), skipFirstPhase: true, circuits: altered })).rejects.toThrow(
      'withdraw-local: the key does not follow',
    )
  })

  it('refuses a key whose points were exchanged', async () => {
    const key = join(folder, 'withdraw-local.0003.zkey')
    const kept = `${key}.kept`
    await copyFile(key, kept)
    const bytes = await readFile(key)
    // The last section of points, as a view into the file.
    const points = sectionOf(readSections(bytes, 'zkey'), 9)
    points.copyWithin(0, 64, 128)
    await writeFile(key, bytes)
    await expect(verifyCeremony({ ...whole(), skipFirstPhase: true })).rejects.toThrow(
      'withdraw-local: the key does not follow',
    )
    await copyFile(kept, key)
  })

  it('verifies, and ends with artifacts that say ceremony', async () => {
    const into = join(home, 'artifacts')
    const announced = `0x${beacon.beacon.toUpperCase()}`
    await finishCeremony({ ...whole(), into, powBits: 16, beacon: announced })
    expect(lines).toContain('ceremony: the first phase is good')
    const [one, two, three] = steps.map((hashes) => hashes.at(-1))
    const told = lines.indexOf('ceremony: batch-withdraw is good, with 3 contributions on record')
    expect(lines.slice(told + 1)).toEqual([
      `ceremony:   1 participant "one" ${one}`,
      `ceremony:   2 participant "two?" ${two}`,
      `ceremony:   3 beacon "beacon" ${three}, value ${beacon.beacon}, hashed 2^10 times`,
      `ceremony: the beacon comes last in all keys, value ${beacon.beacon}, hashed 2^10 times: as announced`,
    ])
    const { manifest, read } = await readArtifacts(into)
    expect(manifest).toMatchObject({ setup: 'ceremony', powBits: 16 })
    for (const [at, name] of circuitNames.entries()) {
      await read(name, 'provingKey')
      const { contributions, verificationKeyHash } = keysOf(manifest, name)
      expect(contributions).toEqual(steps.map((hashes) => hashes[at]))
      expect(lines).toContain(`ceremony: ${name} has the verification key hash ${verificationKeyHash}`)
    }
    const again = { ...whole(), into, powBits: 16, beacon: announced }
    await expect(finishCeremony(again)).rejects.toThrow('exists already')
  })
})
