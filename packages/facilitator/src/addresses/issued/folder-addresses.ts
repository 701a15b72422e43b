/** The issued addresses in the folder: each with its challenge, and once more by age. */
import type { Challenge } from '../../payment/records.js'
import { del, type Level, nothing, type Operation, put, write } from './folder-level.js'
import { ageIn, keys, ranges, readIssued, writeIssued } from './folder-records.js'
import { transfersTo } from './folder-transfers.js'
import type { IssuedStore } from './store.js'

export function createFolderAddresses(
  level: Level,
): Pick<IssuedStore, 'put' | 'find' | 'firstBlock' | 'forget'> {
  return {
    async put(challenges) {
      const known = await level.getMany(challenges.map(({ payTo }) => keys.issued(payTo)))
      const isNew = (_: Challenge, i: number) => known[i] === undefined
      await write(
        level,
        challenges
          .filter(isNew)
          .flatMap((challenge) => [
            put(keys.issued(challenge.payTo), writeIssued(challenge)),
            put(keys.age(challenge.issuedAt, challenge.payTo), nothing),
          ]),
      )
    },

    async find(addresses) {
      const values = await level.getMany(addresses.map(keys.issued))
      return values.map((value) => value && readIssued(value))
    },

    async firstBlock() {
      // The oldest address has about the lowest block: blocks are taken from a good while before the head.
      for await (const age of level.keys({ ...ranges.ages, limit: 1 })) {
        const value = await level.get(keys.issued(ageIn(age).payTo))
        return value && readIssued(value).issuedAtBlock
      }
      return undefined
    },

    async forget(issuedBefore, countMax, matter) {
      const ages = await level.keys({ ...ranges.agesBelow(issuedBefore), limit: countMax }).all()
      const gone: Operation[] = []
      for (const age of ages) {
        const { payTo } = ageIn(age)
        gone.push(del(age))
        const transfers = await transfersTo(level, payTo)
        if (transfers.length > 0 && (await matter(payTo, transfers))) continue
        gone.push(del(keys.issued(payTo)))
        gone.push(...transfers.map(({ leafIndex }) => del(keys.transfer(payTo, leafIndex))))
      }
      await write(level, gone)
      return ages.length
    },
  }
}
