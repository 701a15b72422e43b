/** Money that was burned and is not the provider's yet: the first thing an operator wants to know. */
import type { ChallengeNonce } from '@svc-zerc20/protocol'
import type { Books, OwedFigures } from './books.js'
import type { Ledger } from './ledger-port.js'
import type { Wait, WaitReason, Waits } from './waits.js'

export type Owed = OwedFigures & {
  readonly reasons: ReadonlyMap<WaitReason, number>
  /** Payments that wait for others of their epoch: how many, and since when the first does. */
  readonly gathering: readonly { readonly payments: number; readonly oldestAt: number }[]
}

export type OwedBooks = ReturnType<typeof createOwedBooks>

export function createOwedBooks(deps: {
  readonly ledger: Pick<Ledger, 'awaitingMint'> & { readonly books: Pick<Books, 'owed'> }
  /** Absent when nothing is minted here. */
  readonly waits: (() => Pick<Waits, 'of' | 'all'> | undefined) | undefined
  /** Whether another daemon mints what is burned here. */
  readonly isElsewhere: () => boolean
}) {
  const { ledger } = deps
  /** The one reason of all payments where no round is run. */
  const everywhere = (): WaitReason | undefined => {
    if (!deps.waits) return 'off'
    return deps.isElsewhere() ? 'elsewhere' : undefined
  }

  /** Why a payment that is burned and not minted waits. */
  function waitOf(nonce: ChallengeNonce): Pick<Wait, 'reason'> & Partial<Wait> {
    const reason = everywhere()
    return reason ? { reason } : (deps.waits?.()?.of(nonce) ?? { reason: 'queued' })
  }

  return {
    async total(): Promise<Owed> {
      const owed = await ledger.books.owed()
      const reason = everywhere()
      const waits = reason ? [] : [...(deps.waits?.()?.all() ?? [])]
      const reasons = new Map<WaitReason, number>()
      for (const wait of waits) reasons.set(wait.reason, (reasons.get(wait.reason) ?? 0) + 1)
      // No round has seen the rest yet.
      const rest = owed.payments - waits.length
      const unseen = reason ?? 'queued'
      if (rest > 0) reasons.set(unseen, (reasons.get(unseen) ?? 0) + rest)
      return { ...owed, reasons, gathering: gatheringIn(waits) }
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

function gatheringIn(waits: readonly Wait[]): Owed['gathering'] {
  const gathering = new Map<number, Owed['gathering'][number]>()
  for (const { gathers } of waits) {
    if (!gathers) continue
    const { payments = 0, oldestAt = gathers.at } = gathering.get(gathers.epoch) ?? {}
    gathering.set(gathers.epoch, { payments: payments + 1, oldestAt: Math.min(oldestAt, gathers.at) })
  }
  return [...gathering.values()]
}
