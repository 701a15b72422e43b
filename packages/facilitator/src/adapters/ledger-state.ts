/** What the events of the ledger amount to. Applied in order they give the same state, now or after a crash. */
import { type ChallengeNonce, SvcError, type TxHash, unreachable } from '@svc-zerc20/protocol'
import type { Accepted, Burn, Challenge, Finalized } from '../payment/ports.js'
import { createLedgerArchive } from './ledger-archive.js'
import type { Binding, ClaimedPayload, LedgerEvent } from './ledger-event.js'
import type { EndedPayment } from './ledger-packing.js'
import { createLedgerTransactions, type Outstanding } from './ledger-transactions.js'

export type Entry = {
  readonly challenge: Challenge
  /** The payload itself is dropped once its burn is accepted; its identity stays. */
  claim?: {
    readonly identity: string
    readonly ticketed: boolean
    payload?: ClaimedPayload
    txHash?: TxHash
  }
  accepted?: Accepted
  demoted?: Accepted
  late?: Burn
  finalized?: Finalized
  granted: boolean
}

export type LedgerState = {
  /** Undefined in a new journal. */
  binding(): Binding | undefined
  find(nonce: ChallengeNonce): Readonly<Entry> | undefined
  /** Everything that can still change: not accepted, or its grant not used. */
  live(): Iterable<Readonly<Entry>>
  /** Those and all that ended, the latter first. */
  all(): Iterable<Readonly<Entry>>
  size(): number
  apply(event: LedgerEvent): void
  /** Forgets a challenge nothing happened to. */
  forget(nonce: ChallengeNonce): void
  /** Transactions that carry burns which have not ended, and those that carry mints. */
  outstanding(): Outstanding[]
  outstandingMints(): Outstanding[]
  /** Accepted or late, and not finalized; cheap however many are. */
  awaitingMint(): Iterable<Readonly<Entry>>
  demoted(): Iterable<Readonly<Entry>>
  /**
   * The shortest list of events that gives the state of this moment, without challenges that `isForgotten`. It is
   * asked for at once or never, and may then be read bit by bit while the state moves on.
   */
  shortest(isForgotten: (challenge: Challenge) => boolean): {
    readonly count: number
    events(): Iterable<LedgerEvent>
  }
}

export function createLedgerState(): LedgerState {
  const entries = new Map<ChallengeNonce, Entry>()
  const archive = createLedgerArchive()
  const burns = createLedgerTransactions()
  const mints = createLedgerTransactions()
  const demoted = new Set<ChallengeNonce>()
  let binding: Binding | undefined

  function entryOf(nonce: ChallengeNonce): Entry {
    const entry = entries.get(nonce)
    if (!entry) throw new SvcError('payment_lost', `no payment ${nonce} in the ledger`)
    return entry
  }

  const isUnderWay = (nonce: ChallengeNonce) => {
    const entry = entries.get(nonce)
    return entry?.claim !== undefined && !entry.accepted
  }

  const mayBeMinted = (nonce: ChallengeNonce) => {
    const entry = entries.get(nonce)
    if (!entry) return archive.isAwaitingMint(nonce)
    // One that was demoted may be accepted again, and its mint sent again.
    return !entry.finalized && (entry.accepted ?? entry.demoted ?? entry.late) !== undefined
  }

  function archiveIfEnded(entry: Entry): void {
    const { challenge, claim, accepted, late, finalized, granted } = entry
    if (!granted || !accepted || !claim || late) return
    const ended = { challenge, identity: claim.identity, ...accepted, ...(finalized && { finalized }) }
    if (archive.add(ended)) entries.delete(challenge.nonce)
  }

  /** Back among those that can change. */
  function takeOut(nonce: ChallengeNonce): Entry {
    const ended = archive.takeOut(nonce)
    if (ended) entries.set(nonce, toEntry(ended))
    return entryOf(nonce)
  }

  function accept(nonce: ChallengeNonce, accepted: Accepted): void {
    const entry = entryOf(nonce)
    if (entry.accepted) return
    entry.accepted = accepted
    delete entry.demoted
    demoted.delete(nonce)
    delete entry.claim?.payload
    // From now on its hash is the burn's own.
    delete entry.claim?.txHash
    burns.end(nonce)
    archiveIfEnded(entry)
  }

  function demote(nonce: ChallengeNonce): void {
    const entry = archive.isAwaitingMint(nonce) ? takeOut(nonce) : entries.get(nonce)
    if (!entry?.accepted || entry.finalized) return
    entry.demoted = entry.accepted
    if (entry.claim) entry.claim.txHash = entry.accepted.burn.txHash
    delete entry.accepted
    demoted.add(nonce)
  }

  function moveBurn(nonce: ChallengeNonce, burn: Burn): void {
    const entry = archive.isAwaitingMint(nonce) ? takeOut(nonce) : entries.get(nonce)
    if (!entry || entry.finalized) return
    if (entry.accepted) entry.accepted = { ...entry.accepted, burn }
    else if (entry.late) entry.late = burn
    archiveIfEnded(entry)
  }

  function finalize(nonce: ChallengeNonce, finalized: Finalized): void {
    mints.end(nonce)
    if (archive.isAwaitingMint(nonce) && archive.finalize(nonce, finalized)) return
    const entry = archive.isAwaitingMint(nonce) ? takeOut(nonce) : entries.get(nonce)
    if (entry && (entry.accepted ?? entry.late)) entry.finalized ??= finalized
  }

  function apply(event: LedgerEvent): void {
    switch (event.event) {
      case 'ledger_bound':
        binding = event.binding
        return
      case 'challenge_issued':
        entries.set(event.challenge.nonce, { challenge: event.challenge, granted: false })
        return
      case 'payment_claimed': {
        const { identity, ticketed, payload } = event
        entryOf(event.nonce).claim = {
          identity,
          ticketed,
          payload,
          ...(payload.kind === 'self-transfer' && { txHash: payload.read().burnTxHash }),
        }
        return
      }
      case 'burn_signed': {
        const { transaction } = event
        // A raised fee may be recorded when one of the burns has ended already.
        const nonces = event.nonces.filter(isUnderWay)
        burns.add(transaction, nonces)
        for (const nonce of nonces) {
          const claim = entries.get(nonce)?.claim
          if (claim) claim.txHash = transaction.hash
        }
        return
      }
      case 'claim_released': {
        const entry = entryOf(event.nonce)
        delete entry.claim
        delete entry.demoted
        demoted.delete(event.nonce)
        burns.end(event.nonce)
        if (!entry.late) mints.end(event.nonce)
        return
      }
      case 'payment_accepted':
        accept(event.nonce, { burn: event.burn, at: event.at })
        return
      case 'payment_demoted':
        demote(event.nonce)
        return
      case 'burn_moved':
        moveBurn(event.nonce, event.burn)
        return
      case 'mint_signed':
        mints.add(event.transaction, event.nonces.filter(mayBeMinted))
        return
      case 'payment_finalized':
        finalize(event.nonce, { mint: event.mint, at: event.at })
        return
      case 'burn_late': {
        const { challenge, burn } = event
        const entry = entries.get(challenge.nonce) ?? { challenge, granted: false }
        entry.late ??= burn
        entries.set(challenge.nonce, entry)
        return
      }
      case 'grant_used': {
        const entry = entryOf(event.nonce)
        entry.granted = true
        archiveIfEnded(entry)
        return
      }
      case 'payment_recorded': {
        const { challenge, identity, ticketed, burn, at, granted, finalized } = event
        const entry = {
          challenge,
          claim: { identity, ticketed },
          accepted: { burn, at },
          granted,
          ...(finalized && { finalized }),
        }
        entries.set(challenge.nonce, entry)
        archiveIfEnded(entry)
        return
      }
      default:
        unreachable(event)
    }
  }

  function shortest(isForgotten: (challenge: Challenge) => boolean) {
    const live: LedgerEvent[] = []
    for (const entry of keptOf(entries.values(), isForgotten)) live.push(...eventsOf(entry))
    for (const { transaction, nonces } of burns.all()) {
      live.push({ event: 'burn_signed', nonces: [...nonces], transaction })
    }
    for (const { transaction, nonces } of mints.all()) {
      live.push({ event: 'mint_signed', nonces: [...nonces], transaction })
    }
    const bound: LedgerEvent[] = binding ? [{ event: 'ledger_bound', binding }] : []
    return {
      count: bound.length + archive.size() + live.length,
      events: () => listed(bound, archive.snapshot(), live),
    }
  }

  return {
    binding: () => binding,
    find(nonce) {
      const entry = entries.get(nonce)
      if (entry) return entry
      const ended = archive.find(nonce)
      return ended && toEntry(ended)
    },
    live: () => entries.values(),
    *all() {
      for (const ended of archive.all()) yield toEntry(ended)
      yield* entries.values()
    },
    size: () => entries.size + archive.size(),
    apply,
    forget: (nonce) => entries.delete(nonce),
    outstanding: burns.all,
    outstandingMints: mints.all,
    *awaitingMint() {
      for (const ended of archive.awaitingMint()) yield toEntry(ended)
      for (const entry of entries.values()) {
        if ((entry.accepted ?? entry.late) && !entry.finalized) yield entry
      }
    },
    *demoted() {
      for (const nonce of demoted) yield entryOf(nonce)
    },
    shortest,
  }
}

function* listed(
  bound: readonly LedgerEvent[],
  ended: Iterable<EndedPayment>,
  live: readonly LedgerEvent[],
): Iterable<LedgerEvent> {
  yield* bound
  for (const payment of ended) yield { event: 'payment_recorded', ...payment, ticketed: false, granted: true }
  yield* live
}

const toEntry = ({ challenge, identity, burn, at, finalized }: EndedPayment): Entry => ({
  challenge,
  // Its one answer is given: a ticket would tell nobody anything more.
  claim: { identity, ticketed: false },
  accepted: { burn, at },
  ...(finalized && { finalized }),
  granted: true,
})

function* keptOf(entries: Iterable<Entry>, isForgotten: (challenge: Challenge) => boolean): Iterable<Entry> {
  for (const entry of entries) {
    if (entry.claim || entry.late || !isForgotten(entry.challenge)) yield entry
  }
}

function* eventsOf(entry: Entry): Iterable<LedgerEvent> {
  const { challenge, claim, accepted, demoted, late, finalized, granted } = entry
  const { nonce } = challenge
  const burned = accepted ?? demoted
  if (burned && claim) {
    const { identity, ticketed } = claim
    const mint = accepted && finalized && { finalized }
    yield { event: 'payment_recorded', challenge, identity, ticketed, ...burned, granted, ...mint }
    if (demoted) yield { event: 'payment_demoted', nonce }
  } else {
    yield { event: 'challenge_issued', challenge }
    if (claim?.payload) {
      const { identity, ticketed, payload } = claim
      yield { event: 'payment_claimed', nonce, identity, ticketed, payload }
    }
    if (granted) yield { event: 'grant_used', nonce }
  }
  if (late) yield { event: 'burn_late', challenge, burn: late }
  if (late && finalized) yield { event: 'payment_finalized', nonce, ...finalized }
}
