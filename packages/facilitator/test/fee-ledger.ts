/** A ledger of finalized payments with fees, whose journal is a list: a crash replays the list. */
import type { Address } from '@svc-zerc20/protocol'
import type { LedgerEvent } from '../src/ledger/events/events.js'
import { createLedger, type EventLedger } from '../src/ledger/ledger.js'
import { createLedgerState } from '../src/ledger/state/state.js'
import type { Clock } from '../src/payment/ports.js'
import type { Challenge } from '../src/payment/records.js'
import { addressOf, burnOf, challengeOf, permitPayloadOf, seconds, units } from './challenges.js'

/** An address that no test sends anything else to. */
export const feeRecipient = addressOf(0xfee1)

const farAway = seconds(4_000_000_000)

export const feeChallenge = (seed: number, fee: bigint, changes: Partial<Challenge> = {}): Challenge =>
  challengeOf(seed, {
    // Some tests use the clock of today.
    ...{ expiresAt: farAway, deadline: farAway },
    fee: { amount: units(fee), bps: 1, chargeTo: 'provider', recipient: feeRecipient },
    ...changes,
  })

export async function payWithFee(ledger: EventLedger, challenge: Challenge, isGranted = true): Promise<void> {
  const { nonce } = challenge
  await ledger.issue(challenge)
  await ledger.claim(nonce, permitPayloadOf(challenge, { nonce: BigInt(nonce) }))
  await ledger.accept(nonce, burnOf(1))
  const grant = isGranted ? await ledger.takeGrant(nonce, 1_000) : undefined
  if (typeof grant === 'object') await grant.use()
}

export const finalizeWithFee = (ledger: EventLedger, { nonce }: Challenge, blockNumber = 5n) =>
  ledger.finalize(nonce, { value: units(1_000n), blockNumber }, units(1_000n))

export function createFeeLedger(clock: Clock) {
  let events: LedgerEvent[] = []
  const open = () => {
    const state = createLedgerState()
    for (const event of events) state.apply(event)
    const append = async (event: LedgerEvent) => void events.push(event)
    const unmatchedMax = { perChallenge: 2, total: 5 }
    const settings = { openMax: 1_000, expiredRetentionSeconds: 3_600, unmatchedMax }
    const log = { append, durable: async () => undefined }
    return { state, ledger: createLedger({ state, log, clock, ...settings }) }
  }
  let opened = open()
  return {
    ledger: () => opened.ledger,
    events: () => events,
    /** The next run replays the journal, or another one: perhaps an old copy. */
    crash(copy: readonly LedgerEvent[] = events) {
      events = [...copy]
      opened = open()
    },
    compact() {
      events = [...opened.state.shortest().events()]
      opened = open()
    },
    /** Payments of 1000 units, accepted and finalized, with these fees. */
    async earn(treasury: Address, fees: readonly bigint[], fromBlock = 5n): Promise<void> {
      for (const [i, fee] of fees.entries()) {
        const challenge = feeChallenge(i + 1 + events.length, fee, { treasury })
        await payWithFee(opened.ledger, challenge)
        await finalizeWithFee(opened.ledger, challenge, fromBlock)
      }
    },
  }
}
