/** The ledger as an operator may read it: pages of payments, newest first, and counts. Nothing here changes it. */
import type { Address, BaseUnits, ChallengeNonce, TxHash, UnixSeconds } from '@svc-zerc20/protocol'
import type { Epoch } from './epochs/epoch.js'
import type { Mint, Payment, Phase, RecordedPayment, UnmatchedBurn } from './records.js'

/** A place in the order of pages: the last payment of the page before. */
export type Cursor = { readonly issuedAt: number; readonly nonce: ChallengeNonce }

export type PageQuery = {
  readonly phase?: Phase | undefined
  /** Only payments with a late burn. */
  readonly isLate?: boolean | undefined
  /** Only payments whose burn a reorg took after it was accepted. */
  readonly isDemoted?: boolean | undefined
  /** Bounds of `issuedAt` in unix seconds: from `since` on, and before `until`. */
  readonly since?: number | undefined
  readonly until?: number | undefined
  /** Bounds of `amountOf`, both included. */
  readonly amountMin?: BaseUnits | undefined
  readonly amountMax?: BaseUnits | undefined
  /** Only payments that this seller's token asked for. */
  readonly seller?: string | undefined
  readonly after?: Cursor | undefined
  readonly limit: number
}

/** A page may be short, and even empty, while more follow: the work for one page is bounded. */
export type Page = { readonly payments: readonly RecordedPayment[]; readonly next?: Cursor }

export type Counts = Readonly<Record<Phase, number>> & {
  /** Open payments for which a payload was presented and whose burn is under way. */
  readonly claimed: number
  /** Accepted once, perhaps served, and without a burn since a reorg. */
  readonly demoted: number
  readonly late: number
  /** Burns that were not late, but bought nothing either. */
  readonly found: number
  readonly unmatched: number
}

/** A transfer that covers nothing, and the challenge it was meant for. */
export type RecordedTransfer = UnmatchedBurn & { readonly challengeNonce: ChallengeNonce }

/** An event of a payment, as the ledger names it. */
export type LedgerTurn = {
  readonly at: UnixSeconds
  readonly event: string
  /** The burn or the mint that it tells of. */
  readonly txHash?: TxHash | undefined
  readonly reason?: string | undefined
}

/** Figures of the whole ledger. */
export type LedgerFigures = {
  /** Challenges that count for the limit of open ones: not expired, and not claimed. */
  readonly open: number
  /** Fees of all payments that are accepted. */
  readonly fees: bigint
}

/** Burns that are not minted yet. */
export type OwedFigures = {
  readonly payments: number
  /** A burn beside an earlier minted one at its address counts only with the difference. */
  readonly value: bigint
  /** When the longest waiting payment was accepted, in unix seconds, or noticed if it came late. */
  readonly oldestAt: number | undefined
}

export type Sum = { readonly payments: number; readonly amount: bigint }

/** Sums of one hour. */
export type HourFigures = {
  /** Unix seconds at which the hour began. */
  readonly at: number
  /** Burns that bought something, and the fees in them. */
  readonly accepted: Sum
  readonly fees: bigint
  /** Mints that became deep enough. */
  readonly finalized: Sum
}

/** A burn and its mint, side by side. */
export type RecordedMint = {
  readonly challengeNonce: ChallengeNonce
  readonly burn: TxHash
  readonly burned: BaseUnits
  readonly fee: BaseUnits | undefined
  readonly mint: Mint
  readonly at: UnixSeconds
  readonly isBatch: boolean
  /** Burns that were not minted before it and could explain it, itself included. */
  readonly company: number
}

/** The place of a mint in their order. */
export type MintCursor = { readonly at: number; readonly payment: number; readonly place: number }

export type Books = {
  /** A payment that is issued while pages are read does not move the others. */
  page(query: PageQuery): Promise<Page>
  find(nonce: ChallengeNonce): Promise<RecordedPayment | undefined>
  /** The turns of a payment, oldest first. Of very many the newest are given. */
  turns(nonce: ChallengeNonce): Promise<readonly LedgerTurn[]>
  /** The payments that a nonce, the hash of a burn or a burn address names. A transaction can have many burns. */
  search(name: ChallengeNonce | TxHash | Address): Promise<readonly RecordedPayment[]>
  /** The hours from `since` on and before `until` in which something happened, in order. Both begin an hour. */
  hours(since: number, until: number): Promise<readonly HourFigures[]>
  /** Burns that were minted, the newest mints first. */
  mints(
    limit: number,
    after?: MintCursor,
  ): Promise<{ readonly mints: readonly RecordedMint[]; readonly next?: MintCursor }>
  /** Epochs in which something can still be paid or minted, the latest first. */
  openEpochs(): Promise<readonly Epoch[]>
  /** Payments of an epoch whose burn is known, of one treasury. */
  ofEpoch(epoch: Epoch): Promise<readonly Pick<Payment, 'challenge' | 'accepted' | 'late'>[]>
  counts(): Promise<Counts>
  /** The newest unmatched transfers, newest first, at most `limit`. */
  unmatched(limit: number): Promise<readonly RecordedTransfer[]>
  figures(): Promise<LedgerFigures>
  owed(): Promise<OwedFigures>
}
