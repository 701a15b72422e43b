/**
 * Finds the number of a record by its nonce. Every record begins with its nonce, so the index holds numbers alone: four
 * bytes and a free place for a record, where a `Map` with nonces as keys would take over a hundred.
 */
import { nonceBytes } from './packing.js'
import type { Slabs } from './slabs.js'

const firstPlaces = 1024
const free = 0

export type NonceIndex = {
  /** The number of the record whose nonce stands at the beginning of these bytes. */
  find(bytes: Buffer): number | undefined
  /** Adds the record of this number. Its nonce must not be in the index. */
  add(number: number): void
}

/** Open addressing: a nonce is random, so its bytes tell the place; a taken place leads to the next one. */
export function createNonceIndex(records: Slabs): NonceIndex {
  /** At each place a number counted from 1, or `free`. At most half of the places are taken. */
  let places = new Int32Array(firstPlaces)
  let count = 0

  /** The place of a nonce, or the free place where it belongs. */
  function placeOf(bytes: Buffer, offset: number): number {
    const mask = places.length - 1
    const first = bytes.readUInt32BE(offset) ^ bytes.readUInt32BE(offset + nonceBytes - 4)
    for (let place = first & mask; ; place = (place + 1) & mask) {
      const held = places[place] ?? free
      if (held === free || beginsWith(held - 1, bytes, offset)) return place
    }
  }

  function beginsWith(number: number, bytes: Buffer, from: number): boolean {
    const { slab, offset } = records.place(number)
    return slab.compare(bytes, from, from + nonceBytes, offset, offset + nonceBytes) === 0
  }

  function enter(number: number): void {
    const { slab, offset } = records.place(number)
    places[placeOf(slab, offset)] = number + 1
  }

  return {
    find(bytes) {
      const held = places[placeOf(bytes, 0)] ?? free
      return held === free ? undefined : held - 1
    },
    add(number) {
      count += 1
      if (count * 2 > places.length) {
        places = new Int32Array(places.length * 2)
        for (let earlier = 0; earlier < number; earlier++) enter(earlier)
      }
      enter(number)
    },
  }
}
