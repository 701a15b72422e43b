import { createHash } from 'node:crypto'
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { circuitNames, readArtifacts } from '@svc-zerc20/zk'
import { curves, powersOfTau as phaseOne } from 'snarkjs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
// @ts-expect-error shared with processes that run without a build
import { tinyCircuits } from '../test/small-circuits.mjs'
import type { Catalogue } from './catalogue.js'
import { applyBeacon, contribute, finishCeremony, prepareCeremony, verifyCeremony } from './ceremony.js'
import { readSections, sectionOf } from './sections.js'

const circuits = tinyCircuits as Catalogue
const lines: string[] = []
const onProgress = (line: string) => lines.push(line)

/** Different in each call, as contributions must be; a test needs no secret. */
function countingBytes() {
  let calls = 0
  return (count: number) => new Uint8Array(count).fill(++calls)
}

describe.sequential('a ceremony', () => {
  let home: string
  let folder: string
  let powersOfTau: { file: string; blake2b: string }
  const step = () => ({ folder, onProgress })
  const whole = () => ({ ...step(), circuits, powersOfTau })

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'svc-ceremony-test-'))
    folder = join(home, 'ceremony')
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

  it('takes contributions and a beacon', async () => {
    const random = countingBytes()
    const first = await contribute({ ...step(), participant: 'one', random })
    const second = await contribute({ ...step(), participant: 'two', random })
    const last = await applyBeacon({ ...step(), beacon: 'ab'.repeat(32), iterationsExponent: 10 })
    expect(new Set([...first, ...second, ...last]).size).toBe(3 * circuitNames.length)
  })

  it('refuses keys of other circuits', async () => {
    const altered = { ...circuits, 'withdraw-local': circuits['root-64'] }
    await expect(verifyCeremony({ ...whole(), circuits: altered })).rejects.toThrow(
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
    await expect(verifyCeremony(whole())).rejects.toThrow('withdraw-local: the key does not follow')
    await copyFile(kept, key)
  })

  it('verifies, and ends with artifacts that say ceremony', async () => {
    const into = join(home, 'artifacts')
    await finishCeremony({ ...whole(), into, powBits: 16 })
    expect(lines).toContain('ceremony: root-64 is good, with 3 contributions')
    const { manifest, read } = await readArtifacts(into)
    expect(manifest).toMatchObject({ setup: 'ceremony', powBits: 16 })
    for (const name of circuitNames) await read(name, 'provingKey')
    await expect(finishCeremony({ ...whole(), into, powBits: 16 })).rejects.toThrow('exists already')
  })
})
