/**
 * Takes the transfers that were found to their end: presented ones are accepted, the largest of the others is put on
 * record and minted, and what one proof cannot bring is kept and shown.
 */
import { type Address, type ChallengeNonce, unreachable } from '@svc-zerc20/protocol'
import type { DoTransfersMatter, IssuedStore, StuckAddress } from '../addresses/issued/store.js'
import type { Books, RecordedPayment } from '../payment/books.js'
import { isOnChain, type OnChainDeps } from '../payment/found/is-on-chain.js'
import {
  besideBurnOf,
  countedOf,
  type FoundTransfer,
  judgeTransfers,
  largestOf,
  totalOf,
} from '../payment/found/judge-transfers.js'
import { recordFound } from '../payment/found/record-found.js'
import type { Ledger } from '../payment/ledger-port.js'
import type { Clock } from '../payment/ports.js'
import type { Burn, Challenge } from '../payment/records.js'
import type { Report } from '../payment/report.js'
import { replaceClaimed } from '../payment/settle/replace-claimed.js'

/** What stands in the way of an address is looked for again after so many seconds. */
const againSeconds = 60

/** So many addresses that cannot be looked at are the node's fault: the others wait for the next round. */
const failuresMax = 8

export type AccountTransfers = {
  /**
   * Looks at addresses whose time has come, a bounded number; says whose burns it put on record. One that cannot be
   * looked at holds up no other.
   */
  round(
    signal: AbortSignal,
  ): Promise<{ readonly recorded: readonly ChallengeNonce[]; readonly failures: readonly unknown[] }>
  /** Whether an address past its retention is kept: it is under way, or what lies there is worth a mint. */
  readonly matter: DoTransfersMatter
  /** Where money lies that a single proof does not bring; the newest first, at most so many. */
  stuck(countMax: number): Promise<readonly StuckAddress[]>
}

type Found = {
  readonly challenge: Challenge
  readonly payment: RecordedPayment | undefined
  readonly transfers: readonly FoundTransfer[]
}

type LookedAt = {
  readonly nonce?: ChallengeNonce
  /** When to look again; absent when it is done with. */
  readonly again?: number
  readonly isRecorded?: boolean
}

export type AccountDeps = OnChainDeps & {
  readonly store: IssuedStore
  readonly ledger: Pick<Ledger, 'accept' | 'recordLate' | 'moveBurn'> & { readonly books: Books }
  readonly clock: Pick<Clock, 'now'>
  readonly report: Report
  /** Less than this is not worth a mint, unless it pays the challenge in full. */
  readonly dustBelow: bigint
  readonly mintsSecond: boolean
  readonly addressesPerRoundMax: number
}

export function createAccountTransfers(deps: AccountDeps): AccountTransfers {
  const { store, ledger, report } = deps
  const now = () => Math.floor(deps.clock.now() / 1000)

  async function lookAt(found: Found): Promise<LookedAt> {
    const { challenge, transfers } = found
    if (await replaceLost(found)) return { isRecorded: true }
    // Others may lie beside it.
    if (await replaceClaimed(deps, challenge, found.payment, transfers.map(burnIn))) return { again: now() }
    const { mintsSecond } = deps
    const verdict = judgeTransfers({
      ...found,
      now: now(),
      dustBelow: deps.dustBelow,
      mintsSecond,
    })
    switch (verdict.kind) {
      case 'wait':
        return { again: verdict.until }
      case 'accept': {
        const { nonce: challengeNonce } = challenge
        if (!(await isOnChain(deps, challenge, verdict.burn))) return { again: now() + againSeconds }
        if ((await ledger.accept(challengeNonce, verdict.burn)) !== 'accepted') {
          return { again: now() + againSeconds }
        }
        report({ event: 'payment.accepted', challengeNonce, txHash: verdict.burn.txHash })
        // Others may lie beside it.
        return { again: now() }
      }
      case 'mint':
        if (!(await isOnChain(deps, challenge, verdict.burn))) return { again: now() + againSeconds }
        await recordFound(deps, challenge, verdict.burn, verdict.reason)
        await keepIfStuck(challenge, transfers)
        return { isRecorded: true }
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
    if (!(await isOnChain(deps, challenge, burn))) return false
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

  const isUndecided = (challenge: Challenge, payment: RecordedPayment | undefined): boolean =>
    payment !== undefined &&
    !payment.accepted &&
    !payment.late &&
    now() < Math.max(challenge.expiresAt, payment.claim ? (challenge.deadline ?? 0) : 0)

  async function lookAtDue({ payTo }: { readonly payTo: Address }) {
    const [challenge] = await store.find([payTo])
    const transfers = challenge ? await store.transfersTo(payTo) : []
    if (!challenge || transfers.length === 0) return {}
    const payment = await ledger.books.find(challenge.nonce)
    return { nonce: challenge.nonce, ...(await lookAt({ challenge, payment, transfers })) }
  }

  async function stuckAt(payTo: StuckAddress['payTo'], transfers: readonly FoundTransfer[]) {
    const [challenge] = await store.find([payTo])
    if (!challenge) return undefined
    const payment = await ledger.books.find(challenge.nonce)
    const stuck = totalOf(transfers) - countedOf(payment)
    if (isUndecided(challenge, payment) || stuck <= 0n) return undefined
    return { challengeNonce: challenge.nonce, payTo, transfers, stuck }
  }

  return {
    async round(signal) {
      const recorded: ChallengeNonce[] = []
      const failures: unknown[] = []
      for (const at of await store.due(now(), deps.addressesPerRoundMax)) {
        signal.throwIfAborted()
        if (failures.length === failuresMax) break
        const { nonce, again, isRecorded }: LookedAt = await lookAtDue(at).catch((error: unknown) => {
          failures.push(error)
          return { again: now() + againSeconds }
        })
        await store.lookedAt(at, again)
        if (nonce && isRecorded) recorded.push(nonce)
      }
      return { recorded, failures }
    },

    async matter(payTo, transfers) {
      const [challenge] = await store.find([payTo])
      if (!challenge) return false
      const payment = await ledger.books.find(challenge.nonce)
      const { accepted, late, lateMinted, finalized } = payment ?? {}
      const isAwaitingMint = late !== undefined && !(accepted ? lateMinted : finalized)
      const isClaimed = payment?.claim !== undefined && !accepted
      if (isAwaitingMint || isClaimed || isUndecided(challenge, payment)) return true
      const stuck = totalOf(transfers) - countedOf(payment)
      return stuck > 0n && stuck >= deps.dustBelow
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
