/** What several daemons on one database share beside the ledger. A daemon with a ledger of its own needs none of it. */

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

export type Shared = {
  readonly counts: SharedCounts
}
