import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ArtifactError } from './artifact-error.js'
import { readKeyFile } from './key-file.js'

/** The key of a small circuit from a ceremony with two participants and a beacon, and the hashes it printed. */
const ceremony = readFileSync(new URL('../../test/ceremony.zkey', import.meta.url))
const hashes = [
  '89d3d17e98c3b565f9be4d8317b5d982492e8e8defbd4904b6b28e1d21be14d8c466d801dd14a3fc4f0703589c45a716cba04f60ab7a520cb83942ee27b1d0fc',
  '3fd2dbfb59fccba4e589d4b6062971890afad71e337e114d164f98c687439651ea7a33033b33f39c7a48c1341e59171cdc0335c48a94e7d8b197ab08b7740403',
  'af3b0de47480e251773aa75a6f00b1872d2c8c4cf408cf6c184d3869207a19fec411d86c7105998a18859336e118028b379b3b95d0acc65077a9c33cdce3b0f9',
]

/** Where the content of a section begins. */
function sectionAt(file: Buffer, type: number): number {
  let at = 12
  while (file.readUInt32LE(at) !== type) at += 12 + Number(file.readBigUInt64LE(at + 4))
  return at + 12
}

const altered = (change: (file: Buffer) => void): Buffer => {
  const file = Buffer.from(ceremony)
  change(file)
  return file
}

/** Why a file is refused. */
function refusal(file: Uint8Array): string | undefined {
  try {
    readKeyFile(file)
  } catch (error) {
    if (error instanceof ArtifactError) return error.message
    throw error
  }
  return undefined
}

describe('a key file', () => {
  it('tells who contributed, by the hashes that participants were told', () => {
    expect(readKeyFile(ceremony).contributions).toEqual([
      { name: 'one', hash: hashes[0], beacon: false },
      { name: 'two', hash: hashes[1], beacon: false },
      {
        name: 'beacon',
        hash: hashes[2],
        beacon: true,
        publicValue: { hex: expect.stringMatching(/^[0-9a-f]{64}$/), iterationsExponent: 10 },
      },
    ])
  })

  it('tells its shape', () => {
    const { verificationKey, ...shape } = readKeyFile(ceremony)
    expect(shape).toMatchObject({ publicSignals: 1, domain: 8 })
    expect(verificationKey.ic).toHaveLength(2)
  })

  const recordAt = sectionAt(ceremony, 10)
  const deltaAt = sectionAt(ceremony, 2) + 84 + 384
  it.each<[string, Uint8Array, string]>([
    ['another kind', altered((file) => file.write('wtns')), 'no key file'],
    ['a missing end', ceremony.subarray(0, -1), 'cut short'],
    ['nothing but a beginning', ceremony.subarray(0, 20), 'no complete key file'],
    ['nothing at all', new Uint8Array(), 'no key file'],
    ['no record', altered((file) => file.writeUInt32LE(11, recordAt - 12)), 'no section 10'],
    ['two heads', altered((file) => file.writeUInt32LE(2, recordAt - 12)), 'section 2 twice'],
    ['a contribution taken away', altered((file) => file.writeUInt32LE(2, recordAt + 64)), 'of another key'],
    ['a contribution too many', altered((file) => file.writeUInt32LE(4, recordAt + 64)), 'no complete key'],
    ['another delta', altered((file) => file.writeUInt8(1, deltaAt)), 'of another key'],
    [
      'an unknown kind of contribution',
      altered((file) => file.writeUInt32LE(2, recordAt + 68 + 384)),
      'damaged',
    ],
  ])('is refused with %s', (_, file, reason) => {
    expect(refusal(file)).toContain(reason)
  })
})
