import { ensureArtifacts } from '@svc-zerc20/circuits'
import { type Manifest, readArtifacts } from '@svc-zerc20/zk'
import { beforeAll, describe, expect, test } from 'vitest'
import { readProvingKey } from './proving-key.js'

let file: Uint8Array
let manifest: Manifest
beforeAll(async () => {
  const artifacts = await readArtifacts(await ensureArtifacts())
  file = await artifacts.read('withdraw-local', 'provingKey')
  manifest = artifacts.manifest
})

const badArtifacts = expect.objectContaining({ code: 'bad_artifacts' })

/** A copy with some bytes written over. */
function altered(at: number, ...bytes: readonly number[]): Uint8Array {
  const copy = file.slice()
  copy.set(bytes, at)
  return copy
}

/** Where the content of a section starts. */
function startOf(id: number): number {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength)
  let at = 12
  while (view.getUint32(at, true) !== id) at += 12 + Number(view.getBigUint64(at + 4, true))
  return at + 12
}

describe('a proving key', () => {
  test('tells what the manifest tells of its circuit', () => {
    const key = readProvingKey(file)
    const { wires, domain } = manifest.circuits['withdraw-local']
    expect(key).toMatchObject({ wires, domain, publicSignals: 3 })
    expect(key.coefficients.length).toBe(key.terms.length * 32)
  })

  test('is refused when it is cut off anywhere', () => {
    for (const length of [0, 3, 11, 20, 100, 1000, file.length >> 1, file.length - 1]) {
      expect(() => readProvingKey(file.subarray(0, length))).toThrow(badArtifacts)
    }
  })

  test('is refused when it is for another scheme, curve or circuit', () => {
    const header = startOf(2)
    const firstTerm = startOf(4) + 4
    const wrong = [
      altered(0, 0x77), // another container
      altered(startOf(1), 2), // PLONK
      altered(header + 4, 1, 2, 3), // another base field
      altered(header + 40, 1, 2, 3), // another scalar field
      altered(header + 72, 1, 0, 0, 0), // another number of wires
      altered(firstTerm, 2), // neither left nor right
      altered(firstTerm + 4, 255, 255, 255, 255), // a constraint beyond the domain
      altered(firstTerm + 8, 255, 255, 255, 255), // a wire that does not exist
    ]
    for (const key of wrong) expect(() => readProvingKey(key)).toThrow(badArtifacts)
  })
})
