/** What the events of the ledger amount to. Applied in order they give the same state, now or after a crash. */
import { type BaseUnits, type ChallengeNonce, SvcError, unreachable } from '@svc-zerc20/protocol'
import type { RecordedTransfer } from '../payment/books.js'
import type { Accepted, Burn, Challenge, Finalized, SignedTransaction } from '../payment/records.js'
import { type ArchiveQuery, type ArchiveSnapshot, createLedgerArchive } from './archive/archive.js'
import { awaitedBurnOf, type Entry, endingsOf, eventsOf, isKept, listed, toEntry } from './entry.js'
import type { Binding, LedgerEvent } from './events.js'
import { createLedgerTransactions, type Outstanding } from './transactions.js'

export type LedgerState = {
  /** Undefined in a new journal. */
  binding(): Binding | undefined
  find(nonce: ChallengeNonce): Readonly<Entry> | undefined
  /** Looks at no mint, so that the time it takes does not tell whether there is one. */
  findWithoutMint(nonce: ChallengeNonce): Readonly<Omit<Entry, 'finalized'>> | undefined
  /** Everything that can still change: not accepted, or its grant not used. */
  live(): Iterable<Readonly<Entry>>
  /** Of everything there is; it may be read bit by bit while the state moves on. */
  challenges(): Iterable<Challenge>
  /** The newest of those that ended, at most so many; only what the query asks for. */
  endedPage(query: ArchiveQuery, count: number): Readonly<Entry>[]
  endedCounts(): { readonly accepted: number; readonly finalized: number }
  /** Transfers that cover nothing, in the order in which they were heard of. */
  unmatched(): readonly RecordedTransfer[]
  size(): number
  apply(event: LedgerEvent): void
  /** Forgets a challenge, unless something happened to it. */
  forget(nonce: ChallengeNonce): void
  /** Transactions that hold accepted burns which a reorg could still take back. */
  shallow(): Outstanding[]
  /** Transactions that carry burns which have not ended, and those that carry mints. */
  outstanding(): Outstanding[]
  outstandingMints(): Outstanding[]
  /** Accepted or late, and not finalized; cheap however many are. */
  awaitingMint(): Iterable<Readonly<Entry>>
  demoted(): Iterable<Readonly<Entry>>
  /**
   * The shortest list of events that gives the state of this moment. It is asked for at once or never, and may then be
   * read bit by bit while the state moves on, until it is released.
   */
  shortest(): {
    readonly count: number
    events(): Iterable<LedgerEvent>
    release(): void
  }
  /** Such a list has become the journal. */
  noteWrittenAnew(): void
}

/** How long the signed bytes of an accepted burn are kept, so that a reorg can be answered with them. */
export type KeepSigned = {
  /** Until a burn so many blocks higher is accepted. */
  readonly blocks: number
  /** Of so many payments at most, the newest. */
  readonly paymentsMax: number
}

export function createLedgerState(keep: KeepSigned = { blocks: 0, paymentsMax: 0 }): LedgerState {
  const entries = new Map<ChallengeNonce, Entry>()
  const archive = createLedgerArchive()
  const burns = createLedgerTransactions()
  /** Of accepted burns that are not deep yet, and their payments, oldest first. */
  const relayed = createLedgerTransactions()
  const shallow = new Set<ChallengeNonce>()
  const mints = createLedgerTransactions()
  const demoted = new Set<ChallengeNonce>()
  const unmatched: RecordedTransfer[] = []
  let binding: Binding | undefined

  function entryOf(nonce: ChallengeNonce): Entry {
    const entry = entries.get(nonce)
    if (!entry) throw new SvcError('payment_lost', `no payment ${nonce} in the ledger`)
    return entry
  }

  function find(nonce: ChallengeNonce): Entry | undefined {
    const entry = entries.get(nonce)
    if (entry) return entry
    const ended = archive.find(nonce)
    return ended && toEntry(ended)
  }

  const isUnderWay = (nonce: ChallengeNonce) => {
    const entry = entries.get(nonce)
    return entry?.claim !== undefined && !entry.accepted
  }

  const mayBeMinted = (nonce: ChallengeNonce) => {
    const entry = entries.get(nonce)
    if (!entry) return archive.isAwaitingMint(nonce)
    // One that was demoted may be accepted again, and its mint sent again.
    return awaitedBurnOf(entry) !== undefined || (!entry.finalized && entry.demoted !== undefined)
  }

  function archiveIfEnded(entry: Entry): void {
    const { challenge, claim, accepted, late, finalized, granted } = entry
    if (!granted || !accepted || !claim || late || entry.unmatched || shallow.has(challenge.nonce)) return
    const ended = { challenge, identity: claim.identity, ...accepted, ...(finalized && { finalized }) }
    if (archive.add(ended)) entries.delete(challenge.nonce)
  }

  /** Brings it back among those that can change, if it had ended without its mint. */
  function changeable(nonce: ChallengeNonce): Entry | undefined {
    const ended = archive.isAwaitingMint(nonce) ? archive.takeOut(nonce) : undefined
    if (ended) entries.set(nonce, toEntry(ended))
    return entries.get(nonce)
  }

  function accept(nonce: ChallengeNonce, accepted: Accepted): void {
    const entry = entryOf(nonce)
    if (entry.accepted) return
    // Its claim was released a moment before: nobody is left whom the burn could buy anything.
    if (!entry.claim) {
      recordLate({
        event: 'burn_late',
        challenge: entry.challenge,
        burn: accepted.burn,
        reason: 'unrecorded',
      })
      return
    }
    entry.accepted = accepted
    delete entry.demoted
    demoted.delete(nonce)
    const signed = signedFor(entry, accepted.burn)
    for (const transaction of signed) relayed.add(transaction, [nonce])
    if (signed.length > 0) shallow.add(nonce)
    else delete entry.claim?.payload
    // From now on its hash is the burn's own.
    delete entry.claim?.txHash
    burns.end(nonce)
    forgetDeep(accepted.burn.blockNumber)
    archiveIfEnded(entry)
  }

  /** All signed forms of the transaction that holds this burn; none when it is somebody else's. */
  function signedFor({ challenge, claim }: Entry, { txHash }: Burn): readonly SignedTransaction[] {
    if (keep.blocks === 0 || claim?.payload?.kind !== 'permit') return []
    const all = burns.of(challenge.nonce)
    const holder = all.find(({ hash }) => hash === txHash)
    return all.filter(({ nonce }) => nonce === holder?.nonce)
  }

  /** Seen from the burn just accepted: one absurd height lets go of much once, and hides nothing later. */
  function forgetDeep(newest: bigint): void {
    for (const nonce of shallow) {
      const entry = entryOf(nonce)
      const height = entry.accepted?.burn.blockNumber ?? newest
      const isDeep = height + BigInt(keep.blocks) <= newest
      if (!isDeep && shallow.size <= keep.paymentsMax) return
      shallow.delete(nonce)
      relayed.end(nonce)
      delete entry.claim?.payload
      archiveIfEnded(entry)
    }
  }

  function demote(nonce: ChallengeNonce): void {
    const entry = changeable(nonce)
    if (!entry?.accepted || entry.finalized) return
    entry.demoted = entry.accepted
    if (entry.claim) entry.claim.txHash = entry.accepted.burn.txHash
    delete entry.accepted
    demoted.add(nonce)
    if (!shallow.delete(nonce)) return
    // Under way again: another run would send the same bytes.
    for (const transaction of relayed.of(nonce)) burns.add(transaction, [nonce])
    relayed.end(nonce)
  }

  function moveBurn(nonce: ChallengeNonce, burn: Burn): void {
    const entry = changeable(nonce)
    if (!entry) return
    if (entry.accepted && !entry.finalized) entry.accepted = { ...entry.accepted, burn }
    else if (entry.late && awaitedBurnOf(entry)) entry.late = burn
    archiveIfEnded(entry)
  }

  /** A mint of a smaller burn than the one that is awaited now: a larger one took its place meanwhile. */
  function isOutgrown(nonce: ChallengeNonce, burned: BaseUnits): boolean {
    const entry = find(nonce)
    const awaited = entry && awaitedBurnOf(entry)
    return awaited !== undefined && awaited.burn.value > burned
  }

  function finalize({ nonce, mint, at, burned }: Extract<LedgerEvent, { event: 'payment_finalized' }>): void {
    if (burned !== undefined && isOutgrown(nonce, burned)) return
    const finalized: Finalized = { mint, at }
    mints.end(nonce)
    if (archive.isAwaitingMint(nonce) && archive.finalize(nonce, finalized)) return
    const entry = changeable(nonce)
    if (!entry) return
    if (entry.accepted && entry.finalized && entry.late) entry.lateMinted ??= finalized
    else if (entry.accepted ?? entry.late) entry.finalized ??= finalized
  }

  /** Of an address only the largest leaf counts: it takes the place of a smaller one, minted or not. */
  function recordLate({ challenge, burn, reason }: Extract<LedgerEvent, { event: 'burn_late' }>): void {
    const { nonce } = challenge
    const ended = entries.has(nonce) ? undefined : archive.takeOut(nonce)
    const entry = entries.get(nonce) ?? (ended ? toEntry(ended) : { challenge, granted: false })
    entries.set(nonce, entry)
    if (entry.late && entry.late.value >= burn.value) return
    entry.late = burn
    delete entry.lateReason
    if (reason) entry.lateReason = reason
    delete entry.lateMinted
    if (!entry.accepted) delete entry.finalized
  }

  /** Of the relayer: what it signed for last outlives the record that said so. */
  function noteNonce(nonce: number): void {
    if (!binding?.relayer || nonce <= binding.relayer.nonce) return
    binding = { ...binding, relayer: { ...binding.relayer, nonce } }
  }

  function apply(event: LedgerEvent): void {
    switch (event.event) {
      case 'ledger_bound': {
        const { id, generation = 0 } = event.binding
        // One that was recorded while the journal was written anew speaks of the file before.
        const later =
          binding && binding.id === id ? Math.max(binding.generation ?? 0, generation) : generation
        binding = { ...event.binding, ...(id !== undefined && { generation: later }) }
        return
      }
      case 'challenge_issued':
        entries.set(event.challenge.nonce, { challenge: event.challenge, granted: false })
        return
      case 'payment_claimed': {
        const { identity, ticketed, payload } = event
        const entry = entryOf(event.nonce)
        if (entry.accepted) return
        entry.claim = {
          identity,
          ticketed,
          payload,
          ...(payload.kind === 'self-transfer' && { txHash: payload.read().burnTxHash }),
        }
        return
      }
      case 'burn_signed': {
        const { transaction } = event
        noteNonce(transaction.nonce)
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
        const entry = entries.get(event.nonce)
        // An older version let a burner that came late release what was accepted, and ended, already.
        if (!entry || entry.accepted) return
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
        noteNonce(event.transaction.nonce)
        mints.add(event.transaction, event.nonces.filter(mayBeMinted))
        return
      case 'payment_finalized':
        finalize(event)
        return
      case 'burn_late':
        recordLate(event)
        return
      case 'burn_unmatched': {
        const { nonce, txHash, reason, at } = event
        // Kept with a payment that ended in full, too: it is money at the same address.
        const ended = entries.has(nonce) ? undefined : archive.takeOut(nonce)
        if (ended) entries.set(nonce, toEntry(ended))
        const entry = entries.get(nonce)
        if (!entry || entry.unmatched?.some((known) => known.txHash === txHash)) return
        entry.unmatched = [...(entry.unmatched ?? []), { txHash, reason, at }]
        unmatched.push({ challengeNonce: nonce, txHash, reason, at })
        return
      }
      case 'grant_used': {
        // One that the disk refused comes again, perhaps behind a record of the whole payment.
        if (archive.find(event.nonce)) return
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

  function shortest() {
    const live: LedgerEvent[] = []
    for (const entry of entries.values()) live.push(...eventsOf(entry))
    for (const { transaction, nonces } of [...relayed.all(), ...burns.all()]) {
      live.push({ event: 'burn_signed', nonces: [...nonces], transaction })
    }
    // Behind the transactions, which only count for burns that are under way.
    for (const entry of entries.values()) live.push(...endingsOf(entry))
    for (const { transaction, nonces } of mints.all()) {
      live.push({ event: 'mint_signed', nonces: [...nonces], transaction })
    }
    const anew = binding?.id !== undefined && { generation: (binding.generation ?? 0) + 1 }
    const bound: LedgerEvent[] = binding ? [{ event: 'ledger_bound', binding: { ...binding, ...anew } }] : []
    let snapshot: ArchiveSnapshot | undefined
    return {
      count: bound.length + archive.size() + live.length,
      events() {
        snapshot = archive.snapshot()
        return listed(bound, snapshot, live)
      },
      release: () => snapshot?.release(),
    }
  }

  return {
    binding: () => binding,
    find,
    findWithoutMint(nonce) {
      const entry = entries.get(nonce)
      if (entry) return entry
      const ended = archive.findWithoutMint(nonce)
      return ended && toEntry(ended)
    },
    live: () => entries.values(),
    *challenges() {
      // In this order: whatever ends, or turns out not to have ended, in between is seen at its new place.
      for (const { challenge } of entries.values()) yield challenge
      for (const { challenge } of archive.snapshot()) yield challenge
    },
    endedPage: (query, count) => archive.page(query, count).map(toEntry),
    endedCounts() {
      const accepted = archive.awaitingCount()
      return { accepted, finalized: archive.size() - accepted }
    },
    unmatched: () => unmatched,
    size: () => entries.size + archive.size(),
    apply,
    forget(nonce) {
      const entry = entries.get(nonce)
      if (entry && !isKept(entry)) entries.delete(nonce)
    },
    shallow: relayed.all,
    outstanding: burns.all,
    outstandingMints: mints.all,
    *awaitingMint() {
      // Listed first, and looked at last: what enters or leaves the archive meanwhile must not come twice.
      const live = [...entries.values()].filter(awaitsMint)
      for (const ended of archive.awaitingMint()) yield toEntry(ended)
      for (const entry of live) {
        if (entries.get(entry.challenge.nonce) === entry && awaitsMint(entry)) yield entry
      }
    },
    *demoted() {
      for (const nonce of demoted) yield entryOf(nonce)
    },
    shortest,
    noteWrittenAnew() {
      if (binding?.id !== undefined) binding = { ...binding, generation: (binding.generation ?? 0) + 1 }
    },
  }
}

const awaitsMint = (entry: Entry) => awaitedBurnOf(entry) !== undefined
