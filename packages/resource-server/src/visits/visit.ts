/**
 * One request on its way through a paid route. The official middleware hands the scheme no more than headers,
 * method and path; what else the gate knows of the request travels beside it.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Refusal } from '../refusal.js'
import type { Presented } from './refused-presentations.js'

export type Visit = {
  /** The path the request was routed by, with the prefix of every router above. */
  readonly path: string
  /** Counts one offer for this client; throws OverLimit when it has had its share. */
  takeOffer(): void
  /** Counts one request that carries a payment; throws OverLimit likewise. */
  takePresentation(): void
  /** Throws OverLimit when too many payments of this client were refused for this one to be looked at. */
  checkPayment(presented: Presented): void
  /** Counts a payment that the facilitator refused. */
  noteRefused(presented: Presented, reason: string): void
  /** Counts one more call for a settle that failed; false when this client has had its share. */
  mayResend(): boolean
  /** What the framework gives its handlers beside the request. */
  readonly handed?: unknown
  /** Takes back what the handler said beside its body, where the framework lets that go straight to the answer. */
  takeBack?: () => void
  /** Why its payment was refused. */
  refusal?: Refusal
  /** Why there is no offer in place of the refused one. */
  offerFailure?: unknown
}

export const visits = new AsyncLocalStorage<Visit>()
