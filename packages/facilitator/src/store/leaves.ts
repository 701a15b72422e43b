/**
 * The leaves of a payment: burns that are minted to the provider, and their mints. A proof mints one leaf, and the verifier
 * counts the minted amount of an address. Beside an accepted burn only a larger one is worth a mint, for the difference.
 */
import type { BaseUnits, UnixSeconds } from '@svc-zerc20/protocol'
import type { Burn, Challenge, Finalized, LateReason, Minted } from '../payment/records.js'
import { type DueFee, dueFeeOf } from '../payment/sweep/due.js'

export type Leaf = {
  readonly challenge: Challenge
  readonly burn: Burn
  /** When the payment was accepted by this burn, or when the burn was heard of. */
  readonly at: UnixSeconds
  /** Why it bought nothing; absent for the accepted burn. */
  readonly reason?: LateReason
  readonly finalized?: Finalized
  /** The fee is in a signed sweep, or was swept. */
  readonly fee?: 'sweeping' | 'swept'
}

export type Leaves = {
  readonly accepted?: Leaf
  readonly late?: Leaf
  /** Late burns that were minted before a larger one took their place. */
  readonly replaced: readonly Leaf[]
}

export const noLeaves: Leaves = { replaced: [] }

/** The leaf that is minted next. */
export function awaitedIn({ accepted, late }: Leaves): Leaf | undefined {
  if (accepted && !accepted.finalized) return accepted
  const isWorthIt = late && late.burn.value > (accepted?.burn.value ?? 0n)
  return isWorthIt && !late.finalized ? late : undefined
}

/** A reorg took the accepted burn away. */
export function withoutAccepted({ accepted: _, ...rest }: Leaves): Leaves {
  return rest
}

export function withLate(leaves: Leaves, late: Leaf): Leaves {
  const before = leaves.late
  return { ...leaves, late, replaced: before?.finalized ? [...leaves.replaced, before] : leaves.replaced }
}

/** A burn that is in another block now. */
export function withMoved(leaves: Leaves, of: 'accepted' | 'late', burn: Burn): Leaves {
  const leaf = leaves[of]
  return leaf ? { ...leaves, [of]: { ...leaf, burn } } : leaves
}

/** Nothing changes when a larger burn took the place of the one that was minted. */
export function withMint(leaves: Leaves, finalized: Finalized, burned: BaseUnits): Leaves {
  const awaited = awaitedIn(leaves)
  if (!awaited || awaited.burn.value > burned) return leaves
  return { ...leaves, [awaited === leaves.accepted ? 'accepted' : 'late']: { ...awaited, finalized } }
}

/** The fee goes into a sweep (`sweeping`), is swept, or, without a state, is due again. */
export function withFee(leaves: Leaves, fee: Leaf['fee'] | undefined): Leaves {
  if (!leaves.accepted) return leaves
  const { fee: _, ...accepted } = leaves.accepted
  return { ...leaves, accepted: { ...accepted, ...(fee && { fee }) } }
}

/** The fee that a sweep may take now. */
export function dueFeeIn({ accepted, late }: Leaves): DueFee | undefined {
  if (!accepted || accepted.fee) return undefined
  const { challenge, burn, at, finalized } = accepted
  return dueFeeOf({
    challenge,
    accepted: { burn, at },
    ...(finalized && { finalized }),
    ...(late && { late: { burn: late.burn, reason: late.reason ?? 'late', at: late.at } }),
  })
}

export function mintedOf({ accepted, late, replaced }: Leaves): Minted {
  const finalized = accepted ? accepted.finalized : late?.finalized
  const lateMinted = accepted && late?.finalized
  const before = replaced.flatMap((leaf) => leaf.finalized ?? [])
  return {
    ...(finalized && { finalized }),
    ...(lateMinted && { lateMinted }),
    ...(before.length > 0 && { mintedBefore: before }),
    ...(accepted?.fee === 'swept' && { swept: true as const }),
  }
}
