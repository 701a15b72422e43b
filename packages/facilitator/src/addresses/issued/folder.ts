/**
 * Issued addresses in a folder beside the journal (LevelDB), under the journal's lock. Every change is one batch that
 * is on the disk when it resolves; memory holds no addresses.
 */
import { mkdirSync } from 'node:fs'
import { type Address, SvcError } from '@svc-zerc20/protocol'
import { ClassicLevel } from 'classic-level'
import type { Challenge } from '../../payment/records.js'
import { bindFolder, bindJournal, type IssuedBinding, type OpenedJournal } from './binding.js'
import {
  ageIn,
  dueIn,
  keys,
  payToIn,
  ranges,
  readFollowed,
  readFound,
  readIssued,
  writeFollowed,
  writeFound,
  writeIssued,
} from './record.js'
import { type FoundLimits, type FoundTransfer, type IssuedStore, leastBelow } from './store.js'

/** The folder that belongs to a journal. */
export const issuedFolderOf = (journal: string): string => `${journal}.issued`

type Level = ClassicLevel<Buffer, Buffer>
type Operation = { type: 'put'; key: Buffer; value: Buffer } | { type: 'del'; key: Buffer }

const nothing = Buffer.alloc(0)
const put = (key: Buffer, value: Buffer): Operation => ({ type: 'put', key, value })
const del = (key: Buffer): Operation => ({ type: 'del', key })

/** Throws `SvcError('issued_unusable' | 'seed_mismatch')` when the folder cannot be used or belongs to another token or key. */
export async function openIssuedFolder(deps: {
  readonly folder: string
  readonly binding: IssuedBinding
  readonly journal: OpenedJournal
  readonly limits: FoundLimits
}): Promise<IssuedStore> {
  const level = await openLevel(deps.folder)
  try {
    await bindFolder(level, deps.folder, deps.binding)
    await bindJournal(level, deps.journal)
    return createIssuedFolder(level, deps.limits)
  } catch (error) {
    await level.close()
    throw error
  }
}

async function openLevel(folder: string): Promise<Level> {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const level = new ClassicLevel<Buffer, Buffer>(folder, { keyEncoding: 'buffer', valueEncoding: 'buffer' })
    await level.open()
    return level
  } catch (error) {
    const why = ((error as Error).cause as Error | undefined)?.message ?? (error as Error).message
    throw new SvcError('issued_unusable', `${folder}: ${why}`, { cause: error })
  }
}

function createIssuedFolder(level: Level, limits: FoundLimits): IssuedStore {
  const write = (operations: readonly Operation[]): Promise<void> =>
    operations.length === 0 ? Promise.resolve() : level.batch([...operations], { sync: true })

  async function transfersTo(payTo: Address): Promise<readonly FoundTransfer[]> {
    return (await level.values(ranges.transfersTo(payTo)).all()).map(readFound)
  }

  /** Past its retention an address is kept for its transfers alone, and goes with them. */
  async function withoutTransfers(payTo: Address): Promise<readonly Operation[]> {
    const issued = await level.get(keys.issued(payTo))
    const isForgotten =
      issued && (await level.get(keys.age(readIssued(issued).issuedAt, payTo))) === undefined
    return isForgotten ? [del(keys.issued(payTo))] : []
  }

  return {
    async put(challenges) {
      const known = await level.getMany(challenges.map(({ payTo }) => keys.issued(payTo)))
      const isNew = (_: Challenge, i: number) => known[i] === undefined
      await write(
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
      // Issued first, so its block is about the lowest: blocks are taken from a good while before the head.
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
        const transfers = await transfersTo(payTo)
        if (transfers.length > 0 && (await matter(payTo, transfers))) continue
        gone.push(del(keys.issued(payTo)))
        gone.push(...transfers.map(({ leafIndex }) => del(keys.transfer(payTo, leafIndex))))
      }
      await write(gone)
      return ages.length
    },

    async followed() {
      const value = await level.get(keys.followed)
      return value && readFollowed(value)
    },
    setFollowed: (block) => write([put(keys.followed, writeFollowed(block))]),

    async putTransfer(payTo, transfer, dueAt) {
      const key = keys.transfer(payTo, transfer.leafIndex)
      if ((await level.get(key)) !== undefined) {
        await write([put(key, writeFound(transfer)), put(keys.due(dueAt, payTo), nothing)])
        return 'known'
      }
      const known = await transfersTo(payTo)
      const isFull = known.length >= limits.perAddressMax
      const least = isFull ? leastBelow(known, transfer) : undefined
      if (isFull && !least) return 'full'
      const replaced = least ? [del(keys.transfer(payTo, least.leafIndex))] : []
      await write([...replaced, put(key, writeFound(transfer)), put(keys.due(dueAt, payTo), nothing)])
      return 'kept'
    },

    transfersTo,

    async *kept() {
      let payTo: Address | undefined
      let transfers: FoundTransfer[] = []
      for await (const [key, value] of level.iterator(ranges.transfers)) {
        if (payTo !== undefined && payTo !== payToIn(key)) {
          yield { payTo, transfers }
          transfers = []
        }
        payTo = payToIn(key)
        transfers.push(readFound(value))
      }
      if (payTo !== undefined) yield { payTo, transfers }
    },

    async due(now, countMax) {
      return (await level.keys({ ...ranges.dueUpTo(now), limit: countMax }).all()).map(dueIn)
    },

    lookedAt: ({ payTo, dueAt }, next) =>
      write([
        del(keys.due(dueAt, payTo)),
        ...(next === undefined ? [] : [put(keys.due(next, payTo), nothing)]),
      ]),

    async dropTransfers(payTo) {
      const transfers = await level.keys(ranges.transfersTo(payTo)).all()
      await write([...transfers.map(del), ...(await withoutTransfers(payTo))])
    },

    async dropTransfersAfter(block) {
      const gone: Buffer[] = []
      for await (const [key, value] of level.iterator(ranges.transfers)) {
        if (readFound(value).blockNumber > BigInt(block)) gone.push(key)
      }
      await write(gone.map(del))
    },

    close: () => level.close(),
  }
}
