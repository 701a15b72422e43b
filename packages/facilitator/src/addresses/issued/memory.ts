/** Issued addresses without a journal: the newest of them, until the daemon ends. */
import type { Address } from '@svc-zerc20/protocol'
import type { Challenge } from '../../payment/records.js'
import {
  type FollowedBlock,
  type FoundLimits,
  type FoundTransfer,
  type IssuedStore,
  leastBelow,
} from './store.js'

export function createIssuedMemory(limits: FoundLimits & { readonly addressesMax: number }): IssuedStore {
  /** Oldest first. */
  const issued = new Map<Address, Challenge>()
  const found = new Map<Address, FoundTransfer[]>()
  const dueAt = new Map<Address, number>()
  let followed: FollowedBlock | undefined

  function drop(payTo: Address, isGone: (transfer: FoundTransfer) => boolean): void {
    const all = found.get(payTo) ?? []
    const left = all.filter((transfer) => !isGone(transfer))
    if (left.length === 0) found.delete(payTo)
    else found.set(payTo, left)
  }

  function forgetAll(payTo: Address): void {
    issued.delete(payTo)
    found.delete(payTo)
    dueAt.delete(payTo)
  }

  return {
    async put(challenges) {
      for (const challenge of challenges)
        if (!issued.has(challenge.payTo)) issued.set(challenge.payTo, challenge)
      for (const [payTo] of issued) {
        if (issued.size <= limits.addressesMax) break
        forgetAll(payTo)
      }
    },
    find: async (addresses) => addresses.map((address) => issued.get(address)),
    async firstBlock() {
      for (const { issuedAtBlock } of issued.values()) return issuedAtBlock
      return undefined
    },
    async forget(issuedBefore, countMax, matter) {
      let gone = 0
      for (const [payTo, { issuedAt }] of issued) {
        if (gone === countMax || issuedAt >= issuedBefore) break
        const transfers = found.get(payTo)
        if (transfers && (await matter(payTo, transfers))) continue
        forgetAll(payTo)
        gone += 1
      }
      return gone
    },
    followed: async () => followed,
    async setFollowed(block) {
      followed = block
    },
    async putTransfer(payTo, transfer, due) {
      const known = found.get(payTo) ?? []
      const same = known.findIndex(({ leafIndex }) => leafIndex === transfer.leafIndex)
      const isFull = same === -1 && known.length >= limits.perAddressMax
      const least = isFull ? leastBelow(known, transfer) : undefined
      if (isFull && !least) return 'full'
      dueAt.set(payTo, due)
      const before = known[same]
      if (before) known[same] = { ...transfer, ...(before.beside && { beside: before.beside }) }
      else found.set(payTo, [...known.filter((other) => other !== least), transfer])
      return same === -1 ? 'kept' : 'known'
    },
    async mark(payTo, leafIndex, beside) {
      const marked = found
        .get(payTo)
        ?.map((each) => (each.leafIndex === leafIndex ? { ...each, beside } : each))
      if (marked) found.set(payTo, marked)
    },
    transfersTo: async (payTo) => found.get(payTo) ?? [],
    async *kept() {
      for (const [payTo, transfers] of found) yield { payTo, transfers }
    },
    async due(now, countMax) {
      return [...dueAt]
        .filter(([, at]) => at <= now)
        .slice(0, countMax)
        .map(([payTo, at]) => ({ payTo, dueAt: at }))
    },
    async lookedAt({ payTo }, next) {
      if (next === undefined) dueAt.delete(payTo)
      else dueAt.set(payTo, next)
    },
    async dropTransfers(payTo) {
      drop(payTo, () => true)
    },
    async dropTransfersAfter(block) {
      for (const payTo of [...found.keys()]) drop(payTo, ({ blockNumber }) => blockNumber > BigInt(block))
    },
    close: async () => undefined,
  }
}
