/** Money that was burned and is not the provider's yet: the first thing an operator wants to know. */
import type { BaseUnits, ChallengeNonce, Clock } from '@svc-zerc20/protocol'
import type { Ledger } from './ledger-port.js'
import type { Wait, WaitReason } from './waits.js'

export type Owed = {
  readonly payments: number
  readonly value: BaseUnits
  /** When the longest waiting payment was accepted, in unix seconds, or noticed if it came late. */
  readonly oldestAt: number | undefined
  readonly reasons: ReadonlyMap<WaitReason, number>
  /** Accepted once, perhaps served, and without a burn since a reorg. */
  readonly demoted: { readonly payments: number; readonly value: bigint }
  /** Payments that wait for others of their epoch: how many, and since when the first does. */
  readonly gathering: readonly { readonly payments: number; readonly oldestAt: number }[]
}

export type OwedBooks = ReturnType<typeof createOwedBooks>

export function createOwedBooks(deps: {
  readonly ledger: Pick<Ledger, 'awaitingMint' | 'demoted'>
  readonly clock: Pick<Clock, 'now'>
  /** Absent when nothing is minted here. */
  readonly waitOf: ((nonce: ChallengeNonce) => Wait | undefined) | undefined
  /** Whether another daemon mints what is burned here. */
  readonly isElsewhere: () => boolean
  readonly few: number
  readonly freshMs: number
}) {
  const { ledger, clock } = deps
  let seen: { readonly owed: Owed; readonly atMs: number } | undefined
  let summing: Promise<Owed> | undefined

  /** Why a payment that is burned and not minted waits. */
  function waitOf(nonce: ChallengeNonce): Pick<Wait, 'reason'> & Partial<Wait> {
    if (!deps.waitOf) return { reason: 'off' }
    return deps.isElsewhere() ? { reason: 'elsewhere' } : (deps.waitOf(nonce) ?? { reason: 'queued' })
  }

  async function sum(): Promise<Owed> {
    const reasons = new Map<WaitReason, number>()
    const gathering = new Map<number | undefined, Owed['gathering'][number]>()
    let payments = 0
    let value = 0n
    let oldestAt: number | undefined
    for await (const payment of ledger.awaitingMint()) {
      const { reason } = waitOf(payment.challenge.nonce)
      reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
      payments += 1
      value += payment.burn.value
      const { acceptedAt, lateAt, challenge } = payment
      if (reason === 'gathering') {
        const epoch = challenge.epoch?.start
        // An epoch waits for a late burn since the challenge expired.
        const at = acceptedAt ?? challenge.expiresAt
        const { payments: others = 0, oldestAt: first = at } = gathering.get(epoch) ?? {}
        gathering.set(epoch, { payments: others + 1, oldestAt: Math.min(first, at) })
      }
      oldestAt = Math.min(oldestAt ?? Number.POSITIVE_INFINITY, acceptedAt ?? lateAt ?? challenge.expiresAt)
    }
    const demoted = { payments: 0, value: 0n }
    for await (const { burn } of ledger.demoted()) {
      demoted.payments += 1
      demoted.value += burn.value
    }
    return {
      payments,
      value: value as BaseUnits,
      oldestAt,
      reasons,
      demoted,
      gathering: [...gathering.values()],
    }
  }

  async function sumNow(): Promise<Owed> {
    try {
      const owed = await sum()
      seen = { owed, atMs: clock.now() }
      return owed
    } finally {
      summing = undefined
    }
  }

  /** A clock that was set back makes everything look new. */
  function isFresh(atMs: number): boolean {
    const ageMs = clock.now() - atMs
    return ageMs >= 0 && ageMs < deps.freshMs
  }

  return {
    /** A sum of more than `few` payments is reused for `freshMs`. A sum of fewer costs little and is always new. */
    async total(): Promise<Owed> {
      if (!summing && seen && seen.owed.payments > deps.few && isFresh(seen.atMs)) return seen.owed
      summing ??= sumNow()
      return summing
    },
    /** The payments that waited longest, at most `limit`; with a reason, only those that wait for it. */
    async waiting(limit: number, reason?: WaitReason): Promise<readonly ChallengeNonce[]> {
      const nonces: ChallengeNonce[] = []
      for await (const { challenge } of ledger.awaitingMint()) {
        if (nonces.length === limit) break
        if (reason === undefined || waitOf(challenge.nonce).reason === reason) nonces.push(challenge.nonce)
      }
      return nonces
    },
    waitOf,
  }
}
