/**
 * Challenges, claims and grants: in memory for reading, in the journal before anyone may act on them.
 *
 * What decides between concurrent callers (the cap, a claim) happens in memory first and is undone if the
 * journal refuses it. What ends something (released, accepted) is journalled first: until then it did not end.
 */
import { type ChallengeNonce, Payload, SvcError, type UnixSeconds } from '@svc-zerc20/protocol'
import type { IssuedAddresses } from '../addresses/issued/addresses.js'
import { type Books, countsOf, type PageQuery, pageOf } from '../payment/books.js'
import { type Shares, unshared } from '../payment/issue/shares.js'
import type { Grant, Ledger } from '../payment/ledger-port.js'
import type { Clock } from '../payment/ports.js'
import type { Burn, Challenge, LateReason, PayerMeans, Payment } from '../payment/records.js'
import { judgeMeans } from '../payment/settle/judge.js'
import { claimedPayload, type LedgerEvent } from './events.js'
import { createExpiryOrder } from './expiry.js'
import { interruptedIn } from './interrupted.js'
import { createOpenChallenges } from './open-challenges.js'
import { createOpenClaims } from './open-claims.js'
import { awaitedBurnOf, isKept, type PaymentRecord } from './payment-record.js'
import type { LedgerState } from './state.js'

export type JournalledLedger = Ledger & {
  /** For the operator; reading changes nothing. */
  readonly books: Books
  openCount(): number
  size(): number
  /** Forgets what is past its retention. */
  forgetExpired(): void
}

/** Where events go before they count: the journal, or nothing when it is switched off. */
export type EventLog = { append(event: LedgerEvent): Promise<void>; durable(): Promise<void> }

/** `settlement.journal = "none"`: nothing survives a restart. */
export const noEventLog: EventLog = { append: async () => undefined, durable: async () => undefined }

/** Unpacked in one go; there may be very many, and requests must not wait for all of them. */
const awaitingAtOnce = 256

export function createLedger(deps: {
  state: LedgerState
  log: EventLog
  clock: Clock
  openMax: number
  /** How open challenges are shared among callers; by default first come, first served. */
  openShares?: Shares | undefined
  expiredRetentionSeconds: number
  /** Transfers that cover nothing, remembered at most. */
  unmatchedMax: { readonly perChallenge: number; readonly total: number }
  /** Remembers addresses for as long as somebody may pay to them. Absent: nobody does once the ledger forgets. */
  issued?: Pick<IssuedAddresses, 'assertRoom' | 'add' | 'heldUntil'> | undefined
}): JournalledLedger {
  const { state, log, clock, openMax, expiredRetentionSeconds, issued } = deps
  const open = createOpenChallenges({ max: openMax, shares: deps.openShares ?? unshared(openMax) })
  /** Expired without a claim, kept for late burns. */
  const expired = createExpiryOrder()
  const openClaims = createOpenClaims()
  /** Grants that a caller holds, and who waits for them, in order. */
  const held = new Map<ChallengeNonce, (() => void)[]>()
  /** Grants whose record the disk refused: the next one that is used brings them along. */
  const unrecordedGrants: ChallengeNonce[] = []

  for (const { challenge, claim, accepted, late } of state.live()) {
    if (claim?.payload && !accepted) openClaims.add(challenge, claim.payload.read())
    if (!claim && !late) open.add(challenge)
  }

  /** Why a permit cannot be claimed beside what its payer has claimed already. */
  function refusalOf(challenge: Challenge, payload: Payload.Payload, means: PayerMeans | undefined) {
    if (payload.kind !== 'permit') return undefined
    const claims = openClaims.of(payload.payer)
    if (means) return judgeMeans(challenge, payload, means, claims)
    const isInUse = claims.some(({ permitNonce }) => permitNonce === payload.permit.nonce)
    return isInUse ? 'permit_nonce_in_use' : undefined
  }

  async function journalled(event: LedgerEvent): Promise<void> {
    await log.append(event)
    state.apply(event)
  }

  async function recordGrants(nonces: readonly ChallengeNonce[]): Promise<void> {
    const recorded = nonces.map((nonce) =>
      log.append({ event: 'grant_used', nonce }).catch((error: unknown) => {
        unrecordedGrants.push(nonce)
        throw error
      }),
    )
    // All of them, whatever becomes of one: a step that ended has nothing on its way to the disk.
    const ends = await Promise.allSettled(recorded)
    for (const end of ends) if (end.status === 'rejected') throw end.reason
  }

  const nowSeconds = () => Math.floor(clock.now() / 1000) as UnixSeconds

  function mintable(nonce: ChallengeNonce): Readonly<PaymentRecord> {
    const payment = state.find(nonce)
    if (payment && (payment.accepted ?? payment.late)) return payment
    throw new SvcError('invariant', `no burn of ${nonce} is known that could have been minted`)
  }

  /** From now on it is kept for good. */
  function keepLate(challenge: Challenge, burn: Burn, reason: LateReason): void {
    state.apply(lateEvent(challenge, burn, reason))
    open.delete(challenge.nonce)
    expired.delete(challenge.nonce)
  }

  /** A payment that is accepted, or was before a reorg, keeps its claim: whoever says that its burn failed is late. */
  function releasable(nonce: ChallengeNonce): Readonly<PaymentRecord> | undefined {
    const entry = state.find(nonce)
    return entry?.claim && !entry.accepted && !entry.demoted ? entry : undefined
  }

  /** Moves what expired and forgets what is past its retention. */
  function sweep(): void {
    const now = clock.now() / 1000
    for (const challenge of open.takeUntil(now)) expired.add(challenge)
    const until = Math.min(now - expiredRetentionSeconds, issued?.heldUntil() ?? Number.POSITIVE_INFINITY)
    for (const { nonce } of expired.takeUntil(until)) state.forget(nonce)
  }

  /** Past its retention it is forgotten for everybody, though it may still wait for its place on the disk. */
  function isForgotten(entry: Omit<PaymentRecord, 'finalized'>): boolean {
    return !isKept(entry) && entry.challenge.expiresAt + expiredRetentionSeconds <= clock.now() / 1000
  }

  function isFull(key?: string): boolean {
    sweep()
    return !open.hasRoom(key)
  }

  function hold(nonce: ChallengeNonce): Grant {
    held.set(nonce, [])
    const letGo = () => {
      const line = held.get(nonce)
      held.delete(nonce)
      for (const next of line ?? []) next()
    }
    return {
      async use() {
        if (!held.has(nonce)) return
        // In memory at once: whoever is next must not be served, whatever the disk says.
        try {
          state.apply({ event: 'grant_used', nonce })
        } finally {
          letGo()
        }
        await recordGrants([nonce, ...unrecordedGrants.splice(0)])
      },
      async giveBack() {
        if (held.has(nonce)) letGo()
      },
    }
  }

  return {
    isFull: async (key) => isFull(key),

    async issue(challenge, key) {
      if (isFull(key)) return 'limit'
      issued?.assertRoom()
      const { nonce } = challenge
      if (state.find(nonce)) throw new SvcError('nonce_reused', 'a challenge nonce came up twice')
      const event = { event: 'challenge_issued', challenge } as const
      state.apply(event)
      open.add(challenge, key)
      try {
        await log.append(event)
      } catch (error) {
        open.delete(nonce)
        state.forget(nonce)
        throw error
      }
      issued?.add(challenge)
      return 'issued'
    },

    async find(nonce): Promise<Payment | undefined> {
      sweep()
      const payment = state.findWithoutMint(nonce)
      return payment && isForgotten(payment) ? undefined : payment
    },

    async claim(nonce, payload, ticketed = false, means) {
      const entry = state.find(nonce)
      if (!entry || isForgotten(entry)) return 'forgotten'
      const identity = Payload.identity(payload)
      if (entry.claim) {
        const isSame = entry.claim.identity === identity
        // The claim that was first may still be on its way to the disk.
        if (isSame) await log.durable()
        return isSame ? 'same_payload' : 'other_payload'
      }
      const refusal = refusalOf(entry.challenge, payload, means)
      if (refusal !== undefined) return refusal
      const event = {
        event: 'payment_claimed',
        nonce,
        identity,
        ticketed,
        payload: claimedPayload(payload),
      } as const
      state.apply(event)
      openClaims.add(entry.challenge, payload)
      open.delete(nonce)
      expired.delete(nonce)
      try {
        await log.append(event)
      } catch (error) {
        undoClaim(entry)
        throw error
      }
      return 'claimed'
    },

    openClaims: async (payer) => openClaims.of(payer),

    async release(nonce) {
      if (!releasable(nonce)) return 'kept'
      await log.append({ event: 'claim_released', nonce })
      const entry = releasable(nonce)
      if (!entry) return 'kept'
      undoClaim(entry)
      return 'released'
    },

    interrupted: () => interruptedIn(state),

    async recordSigned(transaction, nonces) {
      await journalled({ event: 'burn_signed', nonces, transaction })
    },

    async accept(nonce, burn) {
      const { accepted, claim, challenge } = state.find(nonce) ?? {}
      if (accepted) return 'already_accepted'
      if (!claim || !challenge) return 'not_claimed'
      const event = { event: 'payment_accepted', nonce, burn, at: nowSeconds() } as const
      await log.append(event)
      const now = state.find(nonce)
      if (now?.accepted) return 'already_accepted'
      if (now?.claim?.identity !== claim.identity) {
        // As when the journal is read again: released before this line, it buys nothing and is only minted.
        keepLate(challenge, burn, 'unrecorded')
        return 'not_claimed'
      }
      openClaims.end(nonce)
      state.apply(event)
      return 'accepted'
    },

    async demote(nonce) {
      const refusal = () => {
        const payment = state.find(nonce)
        if (payment?.finalized) return 'already_finalized'
        return payment?.accepted ? undefined : 'not_accepted'
      }
      const refused = refusal()
      if (refused !== undefined) return refused
      await log.append({ event: 'payment_demoted', nonce })
      const overtaken = refusal()
      if (overtaken !== undefined) return overtaken
      state.apply({ event: 'payment_demoted', nonce })
      const { challenge, claim } = state.find(nonce) ?? {}
      // Its burn is to be executed again, and takes what it took before.
      if (challenge && claim?.payload) openClaims.add(challenge, claim.payload.read())
      return 'demoted'
    },

    async moveBurn(nonce, burn) {
      if (!awaitedBurnOf(mintable(nonce))) return
      await journalled({ event: 'burn_moved', nonce, burn })
    },

    async *demoted() {
      for (const { challenge, demoted } of state.demoted()) {
        if (demoted) yield { challenge, burn: demoted.burn }
      }
    },

    async *awaitingMint() {
      let unpacked = 0
      for (const entry of state.awaitingMint()) {
        unpacked += 1
        if (unpacked % awaitingAtOnce === 0) await new Promise((resolve) => setImmediate(resolve))
        const awaited = awaitedBurnOf(entry)
        if (awaited) yield awaited
      }
    },

    async recordMintSigned(transaction, nonces) {
      await journalled({ event: 'mint_signed', nonces, transaction })
    },

    async finalize(nonce, mint, burned) {
      const refusal = () => {
        const awaited = awaitedBurnOf(mintable(nonce))
        if (!awaited) return 'already_finalized'
        return awaited.burn.value > burned ? 'outgrown' : undefined
      }
      const refused = refusal()
      if (refused !== undefined) return refused
      const event = { event: 'payment_finalized', nonce, mint, at: nowSeconds(), burned } as const
      await log.append(event)
      const overtaken = refusal()
      if (overtaken !== undefined) return overtaken
      state.apply(event)
      return 'finalized'
    },

    async recordLate(challenge, burn, reason) {
      const { accepted, late } = state.find(challenge.nonce) ?? {}
      // Told again and again, it is still one burn.
      if (burn.value <= (late?.value ?? accepted?.burn.value ?? 0n)) return 'known'
      await log.append(lateEvent(challenge, burn, reason))
      keepLate(challenge, burn, reason)
      return 'recorded'
    },

    async recordUnmatched(nonce, { txHash, reason }) {
      const payment = state.find(nonce)
      if (!payment) return 'forgotten'
      const { unmatched = [] } = payment
      if (unmatched.some((known) => known.txHash === txHash)) return 'known'
      const { perChallenge, total } = deps.unmatchedMax
      if (unmatched.length >= perChallenge || state.unmatched().length >= total) return 'full'
      await journalled({ event: 'burn_unmatched', nonce, txHash, reason, at: nowSeconds() })
      return 'recorded'
    },

    async takeGrant(nonce, boundMs) {
      const waited = new AbortController()
      const elapsed = clock.sleep(boundMs, waited.signal).then(() => 'elapsed' as const)
      try {
        for (;;) {
          if (state.findWithoutMint(nonce)?.granted) return 'used'
          const line = held.get(nonce)
          if (!line) return hold(nonce)
          const ended = new Promise<void>((resolve) => line.push(resolve))
          if ((await Promise.race([ended, elapsed])) === 'elapsed') return 'held'
        }
      } finally {
        waited.abort()
      }
    },

    grantIsUsed: async (nonce) => state.findWithoutMint(nonce)?.granted === true,
    books: {
      async page(query) {
        sweep()
        return pageOf([...endedFor(query), ...state.live()], query, clock.now())
      },
      async find(nonce) {
        sweep()
        const payment = state.find(nonce)
        return payment && isForgotten(payment) ? undefined : payment
      },
      async counts() {
        sweep()
        const live = countsOf(state.live(), clock.now())
        const ended = state.endedCounts()
        return {
          ...live,
          accepted: live.accepted + ended.accepted,
          finalized: live.finalized + ended.finalized,
        }
      },
      unmatched: async (limit) => state.unmatched().slice(-limit).reverse(),
    },
    openCount() {
      sweep()
      return open.size()
    },
    size: state.size,
    forgetExpired: sweep,
  }

  /** Of payments that ended: no more than a page needs to show, or to say that more follow. */
  function endedFor({ phase, isLate, since = 0, until = Number.POSITIVE_INFINITY, after, limit }: PageQuery) {
    if (isLate || phase === 'open' || phase === 'expired') return []
    const isFinalized = phase === undefined ? undefined : phase === 'finalized'
    return state.endedPage({ since, until, after, isFinalized }, limit + 1)
  }

  function undoClaim({ challenge, late }: PaymentRecord): void {
    openClaims.end(challenge.nonce)
    state.apply({ event: 'claim_released', nonce: challenge.nonce })
    // A late burn is kept for good.
    if (late) return
    open.add(challenge)
  }
}

const lateEvent = (challenge: Challenge, burn: Burn, reason: LateReason): LedgerEvent => ({
  event: 'burn_late',
  challenge,
  burn,
  ...(reason !== 'late' && { reason }),
})
