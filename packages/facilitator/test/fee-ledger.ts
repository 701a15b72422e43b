/** A ledger of finalized payments with fees, that can be restarted, also from an old copy. */
import { join } from 'node:path'
import type { Address, Clock } from '@svc-zerc20/protocol'
import { onTestFinished } from 'vitest'
import { stoppedClock } from '../../../test/support/clocks.js'
import type { Challenge } from '../src/payment/records.js'
import { slots } from '../src/store/rows/transaction-rows.js'
import { addressOf, burnOf, challengeOf, permitPayloadOf, seconds, units } from './challenges.js'
import { temporaryFolder } from './folder.js'
import { copyLedger } from './ledger-files.js'
import { openTestStore, type TestLedger } from './store.js'

/** An address that no test sends anything else to. */
export const feeRecipient = addressOf(0xfee1)

const farAway = seconds(4_000_000_000)

export const feeChallenge = (seed: number, fee: bigint, changes: Partial<Challenge> = {}): Challenge =>
  challengeOf(seed, {
    // Some tests use the clock of today.
    expiresAt: farAway,
    deadline: farAway,
    fee: { amount: units(fee), bps: 1, chargeTo: 'provider', recipient: feeRecipient },
    ...changes,
  })

export async function payWithFee(ledger: TestLedger, challenge: Challenge, isGranted = true): Promise<void> {
  const { nonce } = challenge
  await ledger.issue(challenge)
  await ledger.claim(nonce, permitPayloadOf(challenge, { nonce: BigInt(nonce) }))
  await ledger.accept(nonce, burnOf(1))
  const grant = isGranted ? await ledger.takeGrant(nonce, 1_000) : undefined
  if (typeof grant === 'object') await grant.use()
}

export const finalizeWithFee = (ledger: TestLedger, { nonce }: Challenge, blockNumber = 5n) =>
  ledger.finalize(nonce, { value: units(1_000n), blockNumber }, units(1_000n))

export async function createFeeLedger(clock: Clock) {
  const path = join(temporaryFolder(), 'journal')
  let opened = await openTestStore({ path }, { ...stoppedClock(), ...clock })
  let earned = 0
  onTestFinished(() => opened.close())
  return {
    ledger: () => opened.ledger,
    /** Signed sweeps that the ledger remembers, also those that nobody asks for. */
    signedSweeps: () => opened.store.ask(slots('sweep')),
    /** A copy of the ledger as it is now. */
    copy(): string {
      const copy = join(temporaryFolder(), 'copy')
      copyLedger(path, copy)
      return copy
    },
    /** The next run finds the files as they are, or an old copy of them, which the operator accepts. */
    async restart(copy?: string) {
      await opened.close()
      const from = copy ?? path
      opened = await openTestStore(
        { path: from, isCopyAccepted: copy !== undefined },
        { ...stoppedClock(), ...clock },
      )
    },
    /** Payments of 1000 units, accepted and finalized, with these fees. */
    async earn(treasury: Address, fees: readonly bigint[], fromBlock = 5n): Promise<void> {
      for (const fee of fees) {
        earned += 1
        const challenge = feeChallenge(earned, fee, { treasury })
        await payWithFee(opened.ledger, challenge)
        await finalizeWithFee(opened.ledger, challenge, fromBlock)
      }
    },
  }
}
