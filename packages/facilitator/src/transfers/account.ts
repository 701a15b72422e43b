/**
 * Takes the transfers that were found to their end: presented ones are accepted, the largest of the others is put on
 * record and minted, and what one proof cannot bring is kept and shown.
 */
import { type ChallengeNonce, unreachable } from '@svc-zerc20/protocol'
import type { Books, RecordedPayment } from '../payment/books.js'
import {
  besideBurnOf,
  countedOf,
  type FoundTransfer,
  judgeTransfers,
  largestOf,
  totalOf,
} from '../payment/judge-transfers.js'
import type { RereadBurn } from '../payment/mint-ports.js'
import type { Burn, Challenge, Clock, Ledger, Report } from '../payment/ports.js'
import { recordFound } from '../payment/record-found.js'
import { replaceClaimed } from '../payment/replace-claimed.js'
import type { IssuedStore, StuckAddress } from './issued-store.js'

export type AccountTransfers = {
  /** Looks at addresses whose time has come, a bounded number; says whose burns it put on record. */
  round(signal: AbortSignal): Promise<readonly ChallengeNonce[]>
  /** Where money lies that a single proof does not bring; the newest first, at most so many. */
  stuck(countMax: number): Promise<readonly StuckAddress[]>
}

type Found = {
  readonly challenge: Challenge
  readonly payment: RecordedPayment | undefined
  readonly transfers: readonly FoundTransfer[]
}

export function createAccountTransfers(deps: {
  readonly store: IssuedStore
  readonly ledger: Pick<Ledger, 'accept' | 'recordLate' | 'moveBurn'> & { readonly books: Books }
  readonly reread: RereadBurn
  readonly clock: Pick<Clock, 'now'>
  readonly report: Report
  readonly dustBelow: bigint
  readonly addressesPerRoundMax: number
}): AccountTransfers {
  const { store, ledger, report } = deps
  const now = () => Math.floor(deps.clock.now() / 1000)

  /** Undefined when it is done with, or when to look again. */
  async function lookAt(found: Found): Promise<{ again?: number; recorded?: boolean }> {
    const { challenge, transfers } = found
    if (await replaceLost(found)) return { recorded: true }
    // Others may lie beside it.
    if (await replaceClaimed(deps, challenge, found.payment, transfers.map(burnIn))) return { again: now() }
    const verdict = judgeTransfers({ ...found, now: now(), dustBelow: deps.dustBelow })
    switch (verdict.kind) {
      case 'wait':
        return { again: verdict.until }
      case 'accept': {
        const { nonce: challengeNonce } = challenge
        if ((await ledger.accept(challengeNonce, verdict.burn)) === 'accepted') {
          report({ event: 'payment.accepted', challengeNonce, txHash: verdict.burn.txHash })
        }
        // Others may lie beside it.
        return { again: now() }
      }
      case 'mint':
        await recordFound(deps, challenge, verdict.burn, verdict.reason)
        await keepIfStuck(challenge, transfers)
        return { recorded: true }
      case 'nothing':
        await keepIfStuck(challenge, transfers)
        return {}
      default:
        return unreachable(verdict)
    }
  }

  /** A reorg took the burn on record, and another transfer came in its stead. */
  async function replaceLost({ challenge, payment, transfers }: Found): Promise<boolean> {
    const { late, accepted, finalized } = payment ?? {}
    const beside = besideBurnOf(payment, transfers)
    const other = largestOf(beside)
    if (!late || accepted || finalized || !other || beside.length < transfers.length) return false
    if (await deps.reread(challenge, late)) return false
    const { minedAt: _, ...burn } = other
    await ledger.moveBurn(challenge.nonce, burn)
    return true
  }

  /** Together with the burn that was accepted, so that the whole of what lies there can be told. */
  async function keepIfStuck(
    { nonce, payTo }: Challenge,
    transfers: readonly FoundTransfer[],
  ): Promise<void> {
    const payment = await ledger.books.find(nonce)
    if (!payment?.accepted) return
    const beside = besideBurnOf(payment, transfers)
    if (beside.length === 0) return store.dropTransfers(payTo)
    if (beside.length < transfers.length) return
    const { burn, at: minedAt } = payment.accepted
    await store.putTransfer(payTo, { ...burn, minedAt }, now())
  }

  async function stuckAt(payTo: StuckAddress['payTo'], transfers: readonly FoundTransfer[]) {
    const [challenge] = await store.find([payTo])
    if (!challenge) return undefined
    const payment = await ledger.books.find(challenge.nonce)
    const isUndecided =
      payment &&
      !payment.accepted &&
      !payment.late &&
      now() < Math.max(challenge.expiresAt, payment.claim ? (challenge.deadline ?? 0) : 0)
    const stuck = totalOf(transfers) - countedOf(payment)
    if (isUndecided || stuck <= 0n) return undefined
    return { challengeNonce: challenge.nonce, payTo, transfers, stuck }
  }

  return {
    async round(signal) {
      const recorded: ChallengeNonce[] = []
      for (const at of await store.due(now(), deps.addressesPerRoundMax)) {
        signal.throwIfAborted()
        const [challenge] = await store.find([at.payTo])
        const transfers = challenge ? await store.transfersTo(at.payTo) : []
        const payment = challenge && (await ledger.books.find(challenge.nonce))
        const end = challenge && transfers.length > 0 ? await lookAt({ challenge, payment, transfers }) : {}
        await store.lookedAt(at, end.again)
        if (challenge && end.recorded) recorded.push(challenge.nonce)
      }
      return recorded
    },

    async stuck(countMax) {
      const all: StuckAddress[] = []
      for await (const { payTo, transfers } of store.kept()) {
        const found = await stuckAt(payTo, transfers)
        if (found) all.push(found)
      }
      const newest = ({ transfers }: StuckAddress) => transfers.at(-1)?.leafIndex ?? 0n
      return all.toSorted((a, b) => Number(newest(b) - newest(a))).slice(0, countMax)
    },
  }
}

const burnIn = ({ minedAt: _, ...burn }: FoundTransfer): Burn => burn
