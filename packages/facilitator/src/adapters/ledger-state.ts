/** What the events of the ledger amount to. Applied in order they give the same state, now or after a crash. */
import {
  type ChallengeNonce,
  type Payload,
  SvcError,
  type TxHash,
  type UnixSeconds,
  unreachable,
} from '@svc-zerc20/protocol'
import type { Burn, Challenge, SignedTransaction } from '../payment/ports.js'
import { createLedgerArchive, type EndedPayment } from './ledger-archive.js'
import type { Binding, LedgerEvent } from './ledger-event.js'

export type Entry = {
  readonly challenge: Challenge
  /** The payload itself is dropped once its burn is accepted; its identity stays. */
  claim?: {
    readonly identity: string
    readonly ticketed: boolean
    payload?: Payload.Payload
    txHash?: TxHash
  }
  accepted?: { readonly burn: Burn; readonly at: UnixSeconds }
  late?: Burn
  granted: boolean
}

/** A transaction that carries burns which have not ended yet. */
export type Outstanding = {
  readonly transaction: SignedTransaction
  readonly nonces: ReadonlySet<ChallengeNonce>
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
  outstanding(): Outstanding[]
  /** The shortest list of events that gives this state, without challenges that `isForgotten`. */
  events(isForgotten: (challenge: Challenge) => boolean): Iterable<LedgerEvent>
  /** How many events that would be, at least; little work. */
  eventsMin(isForgotten: (challenge: Challenge) => boolean): number
}

export function createLedgerState(): LedgerState {
  const entries = new Map<ChallengeNonce, Entry>()
  const archive = createLedgerArchive()
  const signed = new Map<TxHash, Outstanding>()
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

  /** Transactions none of whose burns is under way any more need not be known. */
  function dropEnded(): void {
    for (const [hash, { nonces }] of signed) {
      if (![...nonces].some(isUnderWay)) signed.delete(hash)
    }
  }

  function archiveIfEnded(entry: Entry): void {
    const { challenge, claim, accepted, late, granted } = entry
    if (!granted || !accepted || !claim || late) return
    if (archive.add({ challenge, identity: claim.identity, ...accepted })) entries.delete(challenge.nonce)
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
          ...(payload.kind === 'self-transfer' && { txHash: payload.burnTxHash }),
        }
        return
      }
      case 'burn_signed':
        signed.set(event.transaction.hash, {
          transaction: event.transaction,
          nonces: new Set(event.nonces),
        })
        for (const nonce of event.nonces) {
          // A raised fee may be recorded when one of the burns has ended already.
          const claim = entries.get(nonce)?.claim
          if (claim) claim.txHash = event.transaction.hash
        }
        return
      case 'claim_released':
        delete entryOf(event.nonce).claim
        dropEnded()
        return
      case 'payment_accepted': {
        const entry = entryOf(event.nonce)
        entry.accepted ??= { burn: event.burn, at: event.at }
        delete entry.claim?.payload
        dropEnded()
        return
      }
      case 'burn_late': {
        const entry = entries.get(event.challenge.nonce) ?? { challenge: event.challenge, granted: false }
        entry.late ??= event.burn
        entries.set(event.challenge.nonce, entry)
        return
      }
      case 'grant_used': {
        const entry = entryOf(event.nonce)
        entry.granted = true
        archiveIfEnded(entry)
        return
      }
      case 'payment_recorded': {
        const { challenge, identity, ticketed, burn, at, granted } = event
        const entry = { challenge, claim: { identity, ticketed }, accepted: { burn, at }, granted }
        entries.set(challenge.nonce, entry)
        archiveIfEnded(entry)
        return
      }
      default:
        unreachable(event)
    }
  }

  function* events(isForgotten: (challenge: Challenge) => boolean): Iterable<LedgerEvent> {
    if (binding) yield { event: 'ledger_bound', binding }
    for (const ended of archive.all())
      yield { event: 'payment_recorded', ...ended, ticketed: false, granted: true }
    for (const entry of keptOf(entries.values(), isForgotten)) yield* eventsOf(entry)
    for (const { transaction, nonces } of signed.values()) {
      yield { event: 'burn_signed', nonces: [...nonces].filter((nonce) => entries.has(nonce)), transaction }
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
    outstanding: () => [...signed.values()],
    events,
    eventsMin: (isForgotten) => archive.size() + [...keptOf(entries.values(), isForgotten)].length,
  }
}

const toEntry = ({ challenge, identity, burn, at }: EndedPayment): Entry => ({
  challenge,
  // Its one answer is given: a ticket would tell nobody anything more.
  claim: { identity, ticketed: false },
  accepted: { burn, at },
  granted: true,
})

function* keptOf(entries: Iterable<Entry>, isForgotten: (challenge: Challenge) => boolean): Iterable<Entry> {
  for (const entry of entries) {
    if (entry.claim || entry.late || !isForgotten(entry.challenge)) yield entry
  }
}

function* eventsOf({ challenge, claim, accepted, late, granted }: Entry): Iterable<LedgerEvent> {
  const { nonce } = challenge
  if (accepted && claim) {
    const { identity, ticketed } = claim
    yield { event: 'payment_recorded', challenge, identity, ticketed, ...accepted, granted }
  } else {
    yield { event: 'challenge_issued', challenge }
    if (claim?.payload) {
      const { identity, ticketed, payload } = claim
      yield { event: 'payment_claimed', nonce, identity, ticketed, payload }
    }
  }
  if (late) yield { event: 'burn_late', challenge, burn: late }
}
