/** Challenges, claims and grants in memory. Every step is synchronous inside, and so atomic. */
import { type ChallengeNonce, Payload, SvcError, type TxHash, type UnixSeconds } from '@svc-zerc20/protocol'
import type { Burn, Challenge, Clock, Grant, Ledger, Payment } from '../payment/ports.js'

type Entry = {
  challenge: Challenge
  claim?: { payload: Payload.Payload; txHash?: TxHash }
  accepted?: { burn: Burn; at: UnixSeconds }
  late?: Burn
  grant: 'free' | 'held' | 'used'
  /** Callers that wait for the grant another one holds, in order. */
  grantLine: (() => void)[]
}

export type MemoryLedger = Ledger & { openCount(): number; size(): number }

export function createMemoryLedger(deps: {
  clock: Clock
  openMax: number
  expiredRetentionSeconds: number
}): MemoryLedger {
  const { clock, openMax, expiredRetentionSeconds } = deps
  const entries = new Map<ChallengeNonce, Entry>()
  /** Unclaimed challenges that still count as open, oldest first: one TTL for all, so this is expiry order. */
  const open = new Map<ChallengeNonce, Challenge>()
  /** Expired without a claim, kept for late burns, oldest first. */
  const expired = new Map<ChallengeNonce, Challenge>()
  /** Permit nonces whose burn is under way, by payer. */
  const permitsInUse = new Map<string, ChallengeNonce>()

  function entryOf(nonce: ChallengeNonce): Entry {
    const entry = entries.get(nonce)
    if (!entry) throw new SvcError('payment_lost', `no payment ${nonce} in the ledger`)
    return entry
  }

  /** Moves what expired and forgets what is past its retention; both queues are in time order. */
  function sweep(): void {
    const nowSeconds = clock.now() / 1000
    for (const [nonce, challenge] of open) {
      if (challenge.expiresAt > nowSeconds) break
      open.delete(nonce)
      expired.set(nonce, challenge)
    }
    for (const [nonce, challenge] of expired) {
      if (challenge.expiresAt + expiredRetentionSeconds > nowSeconds) break
      expired.delete(nonce)
      entries.delete(nonce)
    }
  }

  function endClaim(entry: Entry): void {
    const permit = entry.claim && permitKey(entry.claim.payload)
    if (permit !== undefined && permitsInUse.get(permit) === entry.challenge.nonce)
      permitsInUse.delete(permit)
  }

  function hold(entry: Entry): Grant {
    entry.grant = 'held'
    const end = (grant: 'free' | 'used') => async () => {
      if (entry.grant !== 'held') return
      entry.grant = grant
      const line = entry.grantLine.splice(0)
      for (const next of line) next()
    }
    return { use: end('used'), giveBack: end('free') }
  }

  function isFull(): boolean {
    sweep()
    return open.size >= openMax
  }

  return {
    isFull: async () => isFull(),

    async issue(challenge) {
      if (isFull()) return 'limit'
      if (entries.has(challenge.nonce)) throw new SvcError('nonce_reused', 'a challenge nonce came up twice')
      entries.set(challenge.nonce, { challenge, grant: 'free', grantLine: [] })
      open.set(challenge.nonce, challenge)
      return 'issued'
    },

    async find(nonce): Promise<Payment | undefined> {
      sweep()
      return entries.get(nonce)
    },

    async claim(nonce, payload) {
      const entry = entries.get(nonce)
      if (!entry) return 'forgotten'
      if (entry.claim) {
        const same = Payload.identity(entry.claim.payload) === Payload.identity(payload)
        return same ? 'same_payload' : 'other_payload'
      }
      const permit = permitKey(payload)
      if (permit !== undefined && permitsInUse.has(permit)) return 'permit_nonce_in_use'
      if (permit !== undefined) permitsInUse.set(permit, nonce)
      entry.claim = {
        payload,
        ...(payload.kind === 'self-transfer' && { txHash: payload.burnTxHash }),
      }
      open.delete(nonce)
      expired.delete(nonce)
      return 'claimed'
    },

    async release(nonce) {
      const entry = entryOf(nonce)
      endClaim(entry)
      delete entry.claim
      // At the end of the queue although it may be older: it is swept a little later, never too early.
      open.set(nonce, entry.challenge)
    },

    async recordBroadcast(nonce, txHash) {
      const entry = entryOf(nonce)
      if (entry.claim) entry.claim.txHash = txHash
    },

    async accept(nonce, burn) {
      const entry = entryOf(nonce)
      if (entry.accepted) return 'already_accepted'
      endClaim(entry)
      entry.accepted = { burn, at: Math.floor(clock.now() / 1000) as UnixSeconds }
      return 'accepted'
    },

    async recordLate(challenge, burn) {
      const entry = entries.get(challenge.nonce) ?? { challenge, grant: 'free', grantLine: [] }
      entry.late ??= burn
      entries.set(challenge.nonce, entry)
      expired.delete(challenge.nonce)
    },

    async takeGrant(nonce) {
      const entry = entryOf(nonce)
      while (entry.grant === 'held') await new Promise<void>((resolve) => entry.grantLine.push(resolve))
      return entry.grant === 'used' ? 'used' : hold(entry)
    },

    grantIsUsed: async (nonce) => entryOf(nonce).grant === 'used',
    openCount: () => open.size,
    size: () => entries.size,
  }
}

function permitKey(payload: Payload.Payload): string | undefined {
  return payload.kind === 'permit' ? `${payload.payer}:${payload.permit.nonce}` : undefined
}
