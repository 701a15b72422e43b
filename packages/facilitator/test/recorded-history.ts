/** A store whose payments took the turns of a history's payments, at their times. */
import type { HistoryPayment } from '../src/history/payment.js'
import { selfTransferOf } from './challenges.js'
import { openTestStore } from './store.js'

export async function openRecordedHistory(payments: readonly HistoryPayment[]) {
  let second = 0
  const clock = {
    now: () => second * 1000,
    sleep: async () => undefined,
    advance: () => undefined,
  }
  const opened = await openTestStore({}, clock)
  const at = async (when: number, step: () => Promise<unknown>) => {
    second = when
    await step()
  }
  for (const payment of payments) await record(payment)
  return opened

  async function record(payment: HistoryPayment): Promise<void> {
    const { challenge, accepted, late, finalized, lateMinted, unmatched = [], disclosedAt } = payment
    const { ledger, store } = opened
    const { nonce } = challenge
    await at(challenge.issuedAt, () => ledger.issue(challenge))
    if (accepted) {
      await at(accepted.at, () => ledger.claim(nonce, selfTransferOf(challenge, 1)))
      await at(accepted.at, () => ledger.accept(nonce, accepted.burn))
    }
    if (late) await at(late.at, () => store.change('recordLate', challenge, late.burn, late.reason))
    for (const [minted, burn] of [
      [finalized, (accepted ?? late)?.burn],
      [lateMinted, late?.burn],
    ] as const) {
      if (minted && burn) await at(minted.at, () => ledger.finalize(nonce, minted.mint, burn.value))
    }
    for (const { at: when, ...transfer } of unmatched) {
      await at(when, () => ledger.recordUnmatched(nonce, transfer))
    }
    const payer = (accepted ?? late)?.burn.from
    if (disclosedAt !== undefined && payer)
      await at(disclosedAt, () => store.change('disclose', nonce, payer))
  }
}
