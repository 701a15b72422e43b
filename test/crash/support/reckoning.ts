/** Compares chain, journal and every client's answers at the end of a test. */
import { expect } from 'vitest'
import { type MadePayment, present, type SettleBody } from './client.js'
import { paymentsIn } from './journal.js'
import type { CrashNetwork } from './network.js'

const isAnswer = (answer: MadePayment['answers'][number]): answer is SettleBody => answer !== 'none'

/** Checks that the answers to one payment's client are consistent with one burn. */
function expectOneGrant({ answers, offer }: MadePayment): void {
  const told = answers.filter(isAnswer)
  const successes = told.filter(({ success }) => success)
  expect(successes.length, `successes of ${offer.challengeNonce}`).toBeLessThanOrEqual(1)
  const last = told.at(-1)
  if (successes.length === 1) expect(last?.success).toBe(true)
  else {
    // "Already accepted" without a success is allowed only if the success was sent into a broken connection.
    expect(last?.errorReason, `end of ${offer.challengeNonce}`).toBe('already_accepted')
    expect(answers).toContain('none')
  }
}

/** Call it after an orderly stop, when every payment was presented until it was answered. */
export async function expectAgreement(
  net: CrashNetwork,
  payments: readonly MadePayment[],
  startBalances: ReadonlyMap<string, bigint>,
): Promise<void> {
  const transfers = await net.transfers()
  const relayed = await net.relayedBurns()
  const recorded = paymentsIn(net.records())
  for (const payment of payments) {
    const { challengeNonce, payTo, amount } = payment.offer
    const burns = transfers.filter(({ args }) => args.to?.toLowerCase() === payTo.toLowerCase())
    expect(
      burns.map(({ args }) => args.value),
      `burns of ${challengeNonce}, whose last answer was ${JSON.stringify(payment.answers.at(-1))}`,
    ).toEqual([BigInt(amount)])
    const [burn] = burns
    const executed = relayed.filter(({ args }) => args.challengeNonce === challengeNonce)
    expect(executed.length).toBe(payment.mode === 'permit' ? 1 : 0)

    expectOneGrant(payment)
    for (const answer of payment.answers.filter(isAnswer)) {
      if (answer.success || answer.errorReason === 'already_accepted') {
        expect(answer.transaction).toBe(burn?.transactionHash)
      }
    }
    expect(recorded.get(challengeNonce), `record of ${challengeNonce}`).toMatchObject({
      accepted: 1,
      txHash: burn?.transactionHash,
    })
  }
  for (const [address, before] of startBalances) {
    const paid = payments.filter(({ account }) => account.address === address)
    const spent = paid.reduce((sum, { offer }) => sum + BigInt(offer.amount), 0n)
    expect(await net.balanceOf(address as `0x${string}`), `balance of ${address}`).toBe(before - spent)
  }
  const accepted = [...recorded.values()].filter((record) => record.accepted > 0)
  expect(accepted.length).toBe(payments.length)
  // No transaction waits, and no txNonce is missing: every transaction of the relayer was one of ours.
  expect(await net.relayerCount('pending')).toBe(await net.relayerCount('latest'))
}

/**
 * Presents every payment once more after a restart. A payment whose grant is in the journal must be refused. Otherwise
 * the daemon was killed between answer and record, the grant is open (ADR 0002), and it is given once. Returns the
 * number of open grants.
 */
export async function expectGrantsAreRemembered(
  net: CrashNetwork,
  payments: readonly MadePayment[],
): Promise<number> {
  const before = paymentsIn(net.records())
  let open = 0
  for (const payment of payments) {
    const again = { ...payment, answers: [] }
    const granted = before.get(payment.offer.challengeNonce)?.granted === true
    if (!granted) {
      open += 1
      expect(await present(net, again)).toMatchObject({ success: true })
    }
    expect(await present(net, again)).toMatchObject({ success: false, errorReason: 'already_accepted' })
  }
  return open
}
