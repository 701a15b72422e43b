/** The states of a payment. This table is the only copy: the state of a payment is read from it. */
import type { Finalized, Payment, Phase } from './records.js'

type Burnable = Omit<Payment, 'granted'>

export type Transition = 'ttl_elapsed' | 'burn_confirmed' | 'burn_vanished' | 'mint_confirmed'

export const lifecycle: Record<Phase, Partial<Record<Transition, Phase>>> = {
  open: { burn_confirmed: 'accepted', ttl_elapsed: 'expired' },
  // A burn that was claimed in time is still accepted. A later burn buys nothing, minted or not (ADR 0002).
  expired: {},
  accepted: { mint_confirmed: 'finalized', burn_vanished: 'open' },
  finalized: {},
}

/**
 * The state of a payment at a moment. A claimed challenge does not expire: its payload was presented in time,
 * and the burn it authorized cannot be mined past its deadline, which is somewhat later than its expiry.
 */
export function phaseAt(payment: Burnable & { readonly finalized?: Finalized }, nowMs: number): Phase {
  const events = burnEventsOf(payment, nowMs)
  return follow(payment.finalized ? [...events, 'mint_confirmed'] : events)
}

/** The state as its burn alone tells it, for those who must not learn of the mint. */
export function burnPhaseAt(payment: Burnable, nowMs: number): Exclude<Phase, 'finalized'> {
  const state = follow(burnEventsOf(payment, nowMs))
  return state === 'finalized' ? 'accepted' : state
}

const follow = (events: readonly Transition[]): Phase =>
  events.reduce<Phase>((state, event) => lifecycle[state][event] ?? state, 'open')

function burnEventsOf({ challenge, claim, accepted, demoted }: Burnable, nowMs: number): Transition[] {
  const events: Transition[] = []
  if (demoted) events.push('burn_confirmed', 'burn_vanished')
  if (accepted) events.push('burn_confirmed')
  if (!claim && nowMs >= challenge.expiresAt * 1000) events.push('ttl_elapsed')
  return events
}
