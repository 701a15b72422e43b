/** The container that constraint, witness and key files share: a magic word, a version, numbered sections. */

const headerBytes = 12

/** Finds the sections of a file. Throws when it is not one of the kind. */
export function readSections(file: Buffer, magic: string): Map<number, Buffer> {
  if (file.toString('latin1', 0, 4) !== magic) throw new Error(`expected a file of kind ${magic.trim()}`)
  const sections = new Map<number, Buffer>()
  for (let left = file.readUInt32LE(8), at = headerBytes; left > 0; left--) {
    const start = at + headerBytes
    const length = Number(file.readBigUInt64LE(at + 4))
    if (start + length > file.length) throw new Error(`the ${magic.trim()} file is cut short`)
    sections.set(file.readUInt32LE(at), file.subarray(start, start + length))
    at = start + length
  }
  return sections
}

/** One section of a file that must have it. */
export function sectionOf(sections: Map<number, Buffer>, type: number): Buffer {
  const section = sections.get(type)
  if (section === undefined) throw new Error(`section ${type} is missing`)
  return section
}

/** The pieces of a file with these sections, ready to be written one after another. */
export function writeSections(
  magic: string,
  version: number,
  sections: readonly { readonly type: number; readonly parts: readonly Uint8Array[] }[],
): Uint8Array[] {
  const file = Buffer.alloc(headerBytes)
  file.write(magic, 'latin1')
  file.writeUInt32LE(version, 4)
  file.writeUInt32LE(sections.length, 8)
  return [
    file,
    ...sections.flatMap(({ type, parts }) => {
      const header = Buffer.alloc(headerBytes)
      header.writeUInt32LE(type)
      header.writeBigUInt64LE(BigInt(parts.reduce((sum, part) => sum + part.length, 0)), 4)
      return [header, ...parts]
    }),
  ]
}

/** A 32-bit number as files hold it. */
export function word32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}
