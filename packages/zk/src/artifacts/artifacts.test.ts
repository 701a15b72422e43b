import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { circuitNames, neededCircuits } from '../circuit-name.js'
import type { Hex } from '../hex.js'
import { ArtifactError } from './artifact-error.js'
import {
  type CircuitArtifacts,
  circuitsIn,
  keysRefused,
  type Manifest,
  parseManifest,
  readArtifacts,
} from './artifacts.js'
import { readKeyFile } from './key-file.js'
import { type VerificationKey, verificationKeyHash } from './verification-key.js'

const word = (value: number): Hex => `0x${value.toString(16).padStart(64, '0')}`
const key: VerificationKey = {
  alpha: [word(1), word(2)],
  beta: [word(3), word(4), word(5), word(6)],
  gamma: [word(7), word(8), word(9), word(10)],
  delta: [word(11), word(12), word(13), word(14)],
  ic: [
    [word(15), word(16)],
    [word(17), word(18)],
  ],
}
const sha256 = (text: string | Uint8Array) => createHash('sha256').update(text).digest('hex')
const circuit = (verificationKey = key): CircuitArtifacts => ({
  constraints: 3,
  domain: 8,
  wires: 5,
  witness: { file: 'a.wasm', sha256: sha256('witness') },
  provingKey: { file: 'a.zkey', sha256: sha256('key') },
  verificationKey,
  verificationKeyHash: verificationKeyHash(verificationKey),
})
const manifest: Manifest = {
  format: 1,
  setup: 'development',
  generation: 2,
  powBits: 8,
  treeHeight: 40,
  sourcesHash: 'ab',
  compiler: 'some compiler',
  circuits: {
    'withdraw-local': circuit(),
    'withdraw-global': circuit(),
    'root-16': circuit(),
    'root-64': circuit(),
  },
}

/** The error code for a refused manifest. */
function refusal(value: unknown): string | undefined {
  try {
    parseManifest(typeof value === 'string' ? value : JSON.stringify(value))
  } catch (error) {
    if (error instanceof ArtifactError) return error.code
    throw error
  }
  return undefined
}

const withCircuit = (artifacts: unknown) => ({
  ...manifest,
  circuits: { ...manifest.circuits, 'root-16': artifacts },
})

describe('a manifest', () => {
  it('is read as it was written', () => {
    expect(parseManifest(JSON.stringify(manifest))).toEqual(manifest)
  })

  it('may have the keys of batches, which are judged like the others', () => {
    const withBatches = (artifacts: CircuitArtifacts) => ({
      ...manifest,
      circuits: { ...manifest.circuits, 'batch-withdraw': artifacts },
    })
    const read = parseManifest(JSON.stringify(withBatches(circuit())))
    expect(read).toEqual(withBatches(circuit()))
    expect([circuitsIn(manifest), circuitsIn(read)]).toEqual([[...neededCircuits], [...circuitNames]])
    expect(refusal(withBatches(circuit({ ...key, delta: key.gamma })))).toBe('artifacts_malformed')
    expect(refusal(withBatches({ ...circuit(), verificationKeyHash: word(1) }))).toBe('artifacts_altered')
  })

  it.each([
    ['no JSON', '{'],
    ['another format', { ...manifest, format: 2 }],
    ['an unknown setup', { ...manifest, setup: 'trusted' }],
    ['no setup', { ...manifest, setup: undefined }],
    ['another generation', { ...manifest, generation: 1 }],
    ['another tree', { ...manifest, treeHeight: 32 }],
    ['a ceremony to which nobody contributed', { ...manifest, setup: 'ceremony' }],
    ['contributions to a development setup', withCircuit({ ...circuit(), contributions: ['ab'.repeat(64)] })],
    ['a field too many', { ...manifest, ceremony: true }],
    ['a missing circuit', withCircuit(undefined)],
    ['an unknown circuit', { ...manifest, circuits: { ...manifest.circuits, other: circuit() } }],
    [
      'a path out of the folder',
      withCircuit({ ...circuit(), witness: { file: '../x', sha256: sha256('x') } }),
    ],
    ['a hidden file', withCircuit({ ...circuit(), witness: { file: '..', sha256: sha256('x') } })],
    ['a word that is too short', withCircuit({ ...circuit(), verificationKeyHash: '0x12' })],
  ])('is refused with %s', (_, value) => {
    expect(refusal(value)).toBe('artifacts_malformed')
  })

  it('is refused when a key is not the one that was hashed', () => {
    const altered = { ...circuit(), verificationKey: { ...key, alpha: [word(1), word(3)] } }
    expect(refusal(withCircuit(altered))).toBe('artifacts_altered')
  })

  it('is refused when nobody contributed to a key: delta equals gamma', () => {
    expect(refusal(withCircuit(circuit({ ...key, delta: key.gamma })))).toBe('artifacts_malformed')
  })
})

describe('the hash of a verification key', () => {
  it('covers every word', () => {
    const hash = verificationKeyHash(key)
    expect(verificationKeyHash({ ...key, ic: [...key.ic].reverse() })).not.toBe(hash)
    expect(verificationKeyHash({ ...key, ic: key.ic.slice(1) })).not.toBe(hash)
    expect(verificationKeyHash({ ...key, gamma: key.delta, delta: key.gamma })).not.toBe(hash)
  })
})

describe('artifacts of a folder', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-manifest-'))
    await writeFile(join(folder, 'manifest.json'), JSON.stringify(manifest))
    await writeFile(join(folder, 'a.wasm'), 'witness')
    await writeFile(join(folder, 'a.zkey'), 'another key')
  })
  afterAll(() => rm(folder, { recursive: true }))

  it('gives files whose hash is right, and no others', async () => {
    const { read } = await readArtifacts(folder)
    for (const name of neededCircuits) {
      expect(new TextDecoder().decode(await read(name, 'witness'))).toBe('witness')
      await expect(read(name, 'provingKey')).rejects.toMatchObject({ code: 'artifacts_altered' })
    }
    await rm(join(folder, 'a.wasm'))
    await expect(read('root-16', 'witness')).rejects.toMatchObject({ code: 'artifacts_missing' })
  })

  it('say how to make the keys of batches where the folder has none', async () => {
    const { read } = await readArtifacts(folder)
    await expect(read('batch-withdraw', 'provingKey')).rejects.toMatchObject({
      code: 'artifacts_missing',
      message: expect.stringContaining('npm run circuits -- --batch'),
    })
  })

  it('are missing where there is no manifest', async () => {
    await expect(readArtifacts(join(folder, 'nowhere'))).rejects.toMatchObject({ code: 'artifacts_missing' })
  })
})

describe('keys of a ceremony', () => {
  const keyFile = readFileSync(new URL('../../test/ceremony.zkey', import.meta.url))
  const { contributions, verificationKey } = readKeyFile(keyFile)
  const hashes = contributions.map(({ hash }) => hash)
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-ceremony-keys-'))
  })
  afterAll(() => rm(folder, { recursive: true }))

  /** Reads a key that the manifest lists with `setup: 'ceremony'`. */
  async function reading(bytes: Uint8Array, changes: Partial<CircuitArtifacts> = {}) {
    const artifacts = {
      ...circuit(verificationKey),
      provingKey: { file: 'a.zkey', sha256: sha256(bytes) },
      contributions: hashes,
      ...changes,
    }
    const circuits = Object.fromEntries(circuitNames.map((name) => [name, artifacts]))
    await writeFile(join(folder, 'a.zkey'), bytes)
    await writeFile(
      join(folder, 'manifest.json'),
      JSON.stringify({ ...manifest, setup: 'ceremony', circuits }),
    )
    const { read } = await readArtifacts(folder)
    return read('withdraw-local', 'provingKey')
  }

  /** Offsets of each contribution's kind in the file: before the length of its parameters, the first of which is a name. */
  const kindsAt = contributions.map(
    ({ name }) => keyFile.indexOf(`\x01${String.fromCharCode(name.length)}${name}`) - 8,
  )

  it('are read where the file has on record what the manifest lists', async () => {
    expect(await reading(keyFile)).toEqual(keyFile)
  })

  it('are refused where the file has other contributions on record, or none: a word in the manifest proves nothing', async () => {
    const refused = { code: 'artifacts_altered', message: expect.stringContaining('other contributions') }
    await expect(reading(keyFile, { contributions: hashes.slice(0, 2) })).rejects.toMatchObject(refused)
    await expect(reading(keyFile, { contributions: ['ab'.repeat(64)] })).rejects.toMatchObject(refused)
    await expect(reading(Buffer.from('relabelled'))).rejects.toMatchObject({ code: 'artifacts_malformed' })
  })

  it('are refused where nobody but a beacon contributed', async () => {
    const beacons = Buffer.from(keyFile)
    for (const at of kindsAt) beacons.writeUInt32LE(1, at)
    await expect(reading(beacons)).rejects.toMatchObject({
      message: expect.stringContaining('only a beacon'),
    })
  })

  it('are refused where the last to contribute was no beacon', async () => {
    const chosen = Buffer.from(keyFile)
    chosen.writeUInt32LE(0, kindsAt.at(-1))
    await expect(reading(chosen)).rejects.toMatchObject({
      message: expect.stringContaining('the last contribution is no beacon'),
    })
  })

  it('are refused where contracts would verify with another key', async () => {
    const other = { verificationKey: key, verificationKeyHash: verificationKeyHash(key) }
    await expect(reading(keyFile, other)).rejects.toMatchObject({
      code: 'artifacts_altered',
      message: expect.stringContaining('another verification key'),
    })
  })
})

describe('keys', () => {
  it('of a development setup are refused where a condition for them is missing, those of a ceremony never', () => {
    const missing = ['a', 'b']
    expect(keysRefused({ setup: 'development' }, missing)).toBe(
      'keys of a development setup, which need a and b',
    )
    expect(keysRefused({ setup: 'development' }, [])).toBeUndefined()
    expect(keysRefused({ setup: 'ceremony' }, missing)).toBeUndefined()
  })
})
