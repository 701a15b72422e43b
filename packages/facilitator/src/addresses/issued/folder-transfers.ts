/** Transfers to issued addresses in the folder, and when each address is looked at. */
import type { Address } from '@svc-zerc20/protocol'
import { del, type Level, nothing, type Operation, put, write } from './folder-level.js'
import { dueIn, keys, payToIn, ranges, readFound, readIssued, writeFound } from './folder-records.js'
import { type FoundLimits, type FoundTransfer, type IssuedStore, leastBelow } from './store.js'

type TransferSteps =
  | 'putTransfer'
  | 'mark'
  | 'transfersTo'
  | 'kept'
  | 'due'
  | 'lookedAt'
  | 'dropTransfers'
  | 'dropTransfersAfter'

export function createFolderTransfers(level: Level, limits: FoundLimits): Pick<IssuedStore, TransferSteps> {
  return {
    putTransfer: (payTo, transfer, dueAt) => putTransfer(level, limits, payTo, transfer, dueAt),
    async mark(payTo, leafIndex, beside) {
      const key = keys.transfer(payTo, leafIndex)
      const known = await level.get(key)
      if (known) await write(level, [put(key, writeFound({ ...readFound(known), beside }))])
    },
    transfersTo: (payTo) => transfersTo(level, payTo),
    kept: () => keptIn(level),

    async due(now, countMax) {
      return (await level.keys({ ...ranges.dueUpTo(now), limit: countMax }).all()).map(dueIn)
    },

    lookedAt: ({ payTo, dueAt }, next) =>
      write(level, [
        del(keys.due(dueAt, payTo)),
        ...(next === undefined ? [] : [put(keys.due(next, payTo), nothing)]),
      ]),

    async dropTransfers(payTo) {
      const transfers = await level.keys(ranges.transfersTo(payTo)).all()
      await write(level, [...transfers.map(del), ...(await withoutTransfers(level, payTo))])
    },

    async dropTransfersAfter(block) {
      const gone: Buffer[] = []
      for await (const [key, value] of level.iterator(ranges.transfers)) {
        if (readFound(value).blockNumber > BigInt(block)) gone.push(key)
      }
      await write(level, gone.map(del))
    },
  }
}

export async function transfersTo(level: Level, payTo: Address): Promise<readonly FoundTransfer[]> {
  return (await level.values(ranges.transfersTo(payTo)).all()).map(readFound)
}

async function putTransfer(
  level: Level,
  limits: FoundLimits,
  payTo: Address,
  transfer: FoundTransfer,
  dueAt: number,
): ReturnType<IssuedStore['putTransfer']> {
  const key = keys.transfer(payTo, transfer.leafIndex)
  const before = await level.get(key)
  const { beside } = before ? readFound(before) : {}
  const kept = [
    put(key, writeFound({ ...transfer, ...(beside && { beside }) })),
    put(keys.due(dueAt, payTo), nothing),
  ]
  if (before !== undefined) {
    await write(level, kept)
    return 'known'
  }
  const known = await transfersTo(level, payTo)
  const isFull = known.length >= limits.perAddressMax
  const least = isFull ? leastBelow(known, transfer) : undefined
  if (isFull && !least) return 'full'
  const replaced = least ? [del(keys.transfer(payTo, least.leafIndex))] : []
  await write(level, [...replaced, ...kept])
  return 'kept'
}

/** The keys are in the order of addresses, so that the transfers of one address follow each other. */
async function* keptIn(
  level: Level,
): AsyncIterable<{ readonly payTo: Address; readonly transfers: readonly FoundTransfer[] }> {
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
}

/** An address past its retention is kept for its transfers alone, and goes with them. */
async function withoutTransfers(level: Level, payTo: Address): Promise<readonly Operation[]> {
  const issued = await level.get(keys.issued(payTo))
  const isForgotten = issued && (await level.get(keys.age(readIssued(issued).issuedAt, payTo))) === undefined
  return isForgotten ? [del(keys.issued(payTo))] : []
}
