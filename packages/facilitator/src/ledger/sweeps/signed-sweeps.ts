/** Sweeps of fees and distributions of the splitter that are signed, and the sum of the sweeps that are done. */
import type { BaseUnits, ChallengeNonce } from '@svc-zerc20/protocol'
import type { DoneSweep, OpenSweep, SignedTransaction, Sweep, Swept } from '../../payment/records.js'

export type LedgerSweeps = {
  /** Adds a signed form to its sweep, or a sweep with its first form. */
  sign(sweep: Sweep, transaction: SignedTransaction): void
  /** Takes out the sweep of this txNonce, if it is open. */
  end(txNonce: number): OpenSweep | undefined
  open(): readonly OpenSweep[]
  isUnderWay(nonce: ChallengeNonce): boolean
  count(done: DoneSweep): void
  /** The sum as a journal that was written anew has it. */
  restore(swept: Swept): void
  swept(): Swept
}

export function createLedgerSweeps(): LedgerSweeps {
  const open = new Map<number, OpenSweep>()
  const underWay = new Set<ChallengeNonce>()
  let swept: Swept = { sweeps: 0, payments: 0, amount: 0n as BaseUnits }
  return {
    sign(sweep, transaction) {
      const { transactions } = open.get(transaction.txNonce) ?? { transactions: [] }
      open.set(transaction.txNonce, { ...sweep, transactions: [...transactions, transaction] })
      for (const nonce of sweep.nonces) underWay.add(nonce)
    },
    end(txNonce) {
      const sweep = open.get(txNonce)
      open.delete(txNonce)
      for (const nonce of sweep?.nonces ?? []) underWay.delete(nonce)
      return sweep
    },
    open: () => [...open.values()],
    isUnderWay: (nonce) => underWay.has(nonce),
    count(last) {
      swept = {
        sweeps: swept.sweeps + 1,
        payments: swept.payments + last.payments,
        amount: (swept.amount + last.amount) as BaseUnits,
        last,
      }
    },
    restore(given) {
      swept = given
    },
    swept: () => swept,
  }
}

export type LedgerDistributions = {
  sign(transaction: SignedTransaction): void
  end(txNonce: number): void
  /** Each with all its signed forms. */
  open(): readonly (readonly SignedTransaction[])[]
}

export function createLedgerDistributions(): LedgerDistributions {
  const open = new Map<number, readonly SignedTransaction[]>()
  return {
    sign(transaction) {
      open.set(transaction.txNonce, [...(open.get(transaction.txNonce) ?? []), transaction])
    },
    end: (txNonce) => void open.delete(txNonce),
    open: () => [...open.values()],
  }
}
