/** Records of one size in blocks (slabs) that never move, each record found by its number. */
import { SvcError } from '@svc-zerc20/protocol'

export const recordsPerSlab = 4096

export const slabOf = (number: number): number => Math.floor(number / recordsPerSlab)

export type Slabs = {
  count(): number
  /** Where a record is. Throws when there is no such record. */
  place(number: number): { readonly slab: Buffer; readonly offset: number }
  overwrite(number: number, record: Buffer): void
  /** Adds a record and returns its number. */
  push(record: Buffer): number
}

export function createSlabs(bytes: number): Slabs {
  const slabs: Buffer[] = []
  let count = 0

  const place = (number: number) => {
    const slab = slabs[slabOf(number)]
    if (!slab) throw new SvcError('invariant', `no record ${number} in the archive`)
    return { slab, offset: (number % recordsPerSlab) * bytes }
  }
  const overwrite = (number: number, record: Buffer) => {
    const { slab, offset } = place(number)
    record.copy(slab, offset)
  }

  return {
    count: () => count,
    place,
    overwrite,
    push(record) {
      if (count % recordsPerSlab === 0) slabs.push(Buffer.alloc(recordsPerSlab * bytes))
      const number = count
      count += 1
      overwrite(number, record)
      return number
    },
  }
}
