/** What several daemons on one database share beside the ledger. A daemon with its own ledger needs none of it. */
import type { Address, UnixSeconds } from '@svc-zerc20/protocol'
import type { SharedAddresses } from '../../addresses/shared-stock.js'

/** A request as all daemons have counted it for its key. */
export type Counted = {
  /** Requests of this minute until this one, with it. */
  readonly count: number
  /** Tells this minute of the key from its others. */
  readonly minute: number
  readonly ageMs: number
}

export type SharedCounts = {
  /** Counts one request for a key. Undefined when there is no answer in time: then each daemon counts for itself. */
  add(key: string): Promise<Counted | undefined>
  /** Takes one back from this minute of the key, sooner or later. */
  takeBack(key: string, minute: number): void
}

/** Nonces of login messages that were used. */
export type UsedNonces = {
  /** Of several callers with one nonce, exactly one sees `taken`. `full` when too many of this address are remembered. */
  take(nonce: string, expiresAt: UnixSeconds, address: Address): Promise<'taken' | 'used' | 'full'>
  /** Lets the nonce be used again: nobody got in with it. */
  giveBack(nonce: string): Promise<void>
}

export type Shared = {
  readonly counts: SharedCounts
  readonly usedNonces: UsedNonces
  readonly ready: SharedAddresses
}
