/** The ledger with a history: every change of a payment is noted, and is on the disk before anybody acts on it. */
import type { ChallengeNonce } from '@svc-zerc20/protocol'
import type { HistoryPort } from '../../payment/history-port.js'
import type { LedgerEvent } from '../events/events.js'
import type { EventLedger } from '../ledger.js'
import type { LedgerState } from '../state/state.js'

/**
 * The payments whose history an event changes. A challenge is in memory before the journal has it, so that its step notes
 * it instead. Claims, grants and sweeps are no part of the history.
 */
export function noncesChangedBy(event: LedgerEvent): readonly ChallengeNonce[] {
  switch (event.event) {
    case 'payment_accepted':
    case 'payment_demoted':
    case 'burn_moved':
    case 'payment_finalized':
    case 'burn_unmatched':
      return [event.nonce]
    case 'burn_late':
      return [event.challenge.nonce]
    default:
      return []
  }
}

/** The state, whose changes are noted the moment they are made. */
export function notedState(state: LedgerState, history: Pick<HistoryPort, 'note'>): LedgerState {
  return {
    ...state,
    apply(event) {
      state.apply(event)
      for (const nonce of noncesChangedBy(event)) {
        const payment = state.find(nonce)
        if (payment) history.note(payment)
      }
    },
  }
}

type Durable = <Args extends unknown[], T>(
  step: (...args: Args) => Promise<T>,
) => (...args: Args) => Promise<T>

/** The ledger, whose steps end when the history has what they changed. */
export function notedLedger(
  ledger: EventLedger,
  state: Pick<LedgerState, 'find'>,
  history: Pick<HistoryPort, 'assertRoom' | 'note' | 'durable'>,
): EventLedger {
  // Also a step that changed nothing waits: it may report what another step is about to record.
  const durable: Durable =
    (step) =>
    async (...args) => {
      const result = await step(...args)
      await history.durable()
      return result
    }
  return {
    ...ledger,
    issue: durable(async (challenge, key) => {
      history.assertRoom()
      const outcome = await ledger.issue(challenge, key)
      if (outcome === 'issued') history.note(state.find(challenge.nonce) ?? { challenge, granted: false })
      return outcome
    }),
    accept: durable(ledger.accept),
    demote: durable(ledger.demote),
    moveBurn: durable(ledger.moveBurn),
    finalize: durable(ledger.finalize),
    recordLate: durable(ledger.recordLate),
    recordUnmatched: durable(ledger.recordUnmatched),
    async takeGrant(...given) {
      const grant = await ledger.takeGrant(...given)
      if (typeof grant === 'string') return grant
      try {
        await history.durable()
        return grant
      } catch (error) {
        await grant.giveBack()
        throw error
      }
    },
  }
}
