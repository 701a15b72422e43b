/** Issued addresses without a journal: the newest of them, until the daemon ends. */
import type { Address } from '@svc-zerc20/protocol'
import type { Challenge } from '../payment/ports.js'
import type { FollowedBlock, FoundLimits, FoundTransfer, IssuedStore } from './issued-store.js'

export function createIssuedMemory(limits: FoundLimits & { readonly addressesMax: number }): IssuedStore {
  /** Oldest first. */
  const issued = new Map<Address, Challenge>()
  const found = new Map<Address, FoundTransfer[]>()
  const dueAt = new Map<Address, number>()
  let followed: FollowedBlock | undefined
  let count = 0

  function drop(payTo: Address, isGone: (transfer: FoundTransfer) => boolean): void {
    const all = found.get(payTo) ?? []
    const left = all.filter((transfer) => !isGone(transfer))
    count -= all.length - left.length
    if (left.length === 0) found.delete(payTo)
    else found.set(payTo, left)
  }

  return {
    async put(challenges) {
      for (const challenge of challenges)
        if (!issued.has(challenge.payTo)) issued.set(challenge.payTo, challenge)
      for (const [payTo] of issued) {
        if (issued.size <= limits.addressesMax) break
        issued.delete(payTo)
      }
    },
    find: async (addresses) => addresses.map((address) => issued.get(address)),
    async firstBlock() {
      for (const { issuedAtBlock } of issued.values()) return issuedAtBlock
      return undefined
    },
    async forget(issuedBefore, countMax) {
      let gone = 0
      for (const [payTo, { issuedAt }] of issued) {
        if (gone === countMax || issuedAt >= issuedBefore) break
        if (found.has(payTo)) continue
        issued.delete(payTo)
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
      const isFull = known.length >= limits.perAddressMax || count >= limits.totalMax
      if (same === -1 && isFull) return 'full'
      dueAt.set(payTo, due)
      if (same !== -1) known[same] = transfer
      else found.set(payTo, [...known, transfer])
      if (same === -1) count += 1
      return same === -1 ? 'kept' : 'known'
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
