/**
 * Takes found transfers to their end. Presented ones are accepted. The largest of the others is recorded and
 * minted. Money that one proof cannot bring is kept and shown.
 */
import { type Address, type Clock, unreachable } from '@svc-zerc20/protocol'
import type { Books } from '../../payment/books.js'
import { isOnChain, type OnChainDeps, recordFound } from '../../payment/found/found-burn.js'
import {
  besideBurnOf,
  burnIn,
  type FoundTransfer,
  judgeTransfers,
  largestOf,
  type TransfersVerdict,
} from '../../payment/found/judge-transfers.js'
import type { Ledger } from '../../payment/ledger-port.js'
import type { Challenge, RecordedPayment } from '../../payment/records.js'
import { acceptedEvent, type Report } from '../../payment/report.js'
import { replaceClaimed } from '../../payment/settle/replace-claimed.js'
import type { IssuedStore } from './issued-store.js'

/** Seconds until an address is looked at again when an obstacle stands in the way. */
const againSeconds = 60

type Found = {
  readonly challenge: Challenge
  readonly payment: RecordedPayment | undefined
  readonly transfers: readonly FoundTransfer[]
}

/** When to look again. Absent when the address is done. */
type Accounted = { readonly again?: number }

type AccountForOneDeps = OnChainDeps & {
  readonly store: Pick<IssuedStore, 'putTransfer' | 'dropTransfers'>
  readonly ledger: Pick<Ledger, 'accept' | 'recordLate' | 'moveBurn'> & { readonly books: Books }
  readonly report: Report
  /** Less than this is not worth a mint, unless it pays the challenge in full. */
  readonly dustBelow: bigint
  /** Unix seconds. */
  readonly now: () => number
}

/** After this many addresses that cannot be looked at, the node is at fault: the others wait for the next round. */
const failuresMax = 8

export type AccountForTransfers = ReturnType<typeof createAccountForTransfers>

export type AccountForDeps = Omit<AccountForOneDeps, 'store' | 'now'> & {
  readonly store: IssuedStore
  readonly clock: Pick<Clock, 'now'>
  readonly addressesPerRoundMax: number
}

export function createAccountForTransfers(deps: AccountForDeps) {
  const { store, ledger } = deps
  const now = () => Math.floor(deps.clock.now() / 1000)

  async function accountForDue(payTo: Address): Promise<Accounted> {
    const { challenge } = (await store.find([payTo]))[0] ?? {}
    const transfers = challenge ? await store.transfersTo(payTo) : []
    if (!challenge || transfers.length === 0) return {}
    const payment = await ledger.books.find(challenge.nonce)
    return accountForOne({ ...deps, now }, { challenge, payment, transfers })
  }

  return {
    /**
     * Looks at a bounded number of addresses whose time has come, and returns what failed. An address that cannot be
     * looked at does not hold up the others.
     */
    async round(signal: AbortSignal): Promise<readonly unknown[]> {
      const failures: unknown[] = []
      for (const at of await store.due(now(), deps.addressesPerRoundMax)) {
        signal.throwIfAborted()
        if (failures.length === failuresMax) break
        const { again } = await accountForDue(at.payTo).catch((error: unknown) => {
          failures.push(error)
          return { again: now() + againSeconds }
        })
        await store.accountedFor(at, again)
      }
      return failures
    },
  }
}

/**
 * Looks at one issued address with transfers to it. The flow judges the transfers; the verdict is carried out here. Throws
 * when the node cannot tell what became of a transfer.
 */
async function accountForOne(deps: AccountForOneDeps, found: Found): Promise<Accounted> {
  const { now, dustBelow } = deps
  const { challenge, payment, transfers } = found
  if (await replaceLost(deps, found)) return {}
  // Other transfers may lie beside it, so the address is looked at again.
  if (await replaceClaimed(deps, challenge, payment, transfers.map(burnIn))) return { again: now() }
  const given = { ...found, now: now(), dustBelow }
  return act(deps, found, judgeTransfers(given))
}

async function act(deps: AccountForOneDeps, found: Found, verdict: TransfersVerdict): Promise<Accounted> {
  const { challenge, transfers } = found
  const later = () => ({ again: deps.now() + againSeconds })
  switch (verdict.kind) {
    case 'wait':
      return { again: verdict.until }
    case 'accept': {
      if (!(await isOnChain(deps, challenge, verdict.burn))) return later()
      if ((await deps.ledger.accept(challenge.nonce, verdict.burn)) !== 'accepted') return later()
      deps.report(acceptedEvent(challenge, verdict.burn))
      // Other transfers may lie beside it, so the address is looked at again.
      return { again: deps.now() }
    }
    case 'mint':
      if (!(await isOnChain(deps, challenge, verdict.burn))) return later()
      if ((await recordFound(deps, challenge, verdict.burn, verdict.reason)) === 'claimed') return later()
      return keepIfStuck(deps, challenge, transfers)
    case 'nothing':
      return keepIfStuck(deps, challenge, transfers)
    default:
      return unreachable(verdict)
  }
}

/** True when a reorg took the recorded burn, and another transfer replaced it. */
async function replaceLost(
  deps: AccountForOneDeps,
  { challenge, payment, transfers }: Found,
): Promise<boolean> {
  const { claim, late, accepted, finalized } = payment ?? {}
  const beside = besideBurnOf(payment, transfers)
  const other = largestOf(beside)
  if (!late || claim || accepted || finalized || !other || beside.length < transfers.length) return false
  if (await deps.reread(challenge, late.burn)) return false
  const burn = burnIn(other)
  if (!(await isOnChain(deps, challenge, burn))) return false
  await deps.ledger.moveBurn(challenge.nonce, burn)
  return true
}

/** Keeps the accepted burn with the transfers beside it, so that the operator sees all that lies at the address. */
async function keepIfStuck(
  deps: AccountForOneDeps,
  challenge: Challenge,
  transfers: readonly FoundTransfer[],
): Promise<Accounted> {
  const { store, ledger, now } = deps
  const { nonce, payTo } = challenge
  const payment = await ledger.books.find(nonce)
  if (!payment?.accepted) return {}
  const beside = besideBurnOf(payment, transfers)
  if (beside.length === 0) await store.dropTransfers(payTo)
  if (beside.length < transfers.length) return {}
  const { burn, at: minedAt } = payment.accepted
  // A reorg took it, and its payment is about to be demoted. Another transfer here, with another leaf, may then pay instead.
  if (!(await isOnChain(deps, challenge, burn))) return { again: now() + againSeconds }
  await store.putTransfer(payTo, { ...burn, minedAt }, now())
  return {}
}
