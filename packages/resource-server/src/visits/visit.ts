/**
 * One request on its way through a paid route. The official middleware passes the scheme only headers, method and
 * path. Everything else the gate knows about the request travels here, in asynchronous local storage.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { SettleResponse } from '@x402/core/types'
import type { Refusal } from '../refusal.js'
import type { Routed } from './priced-request.js'
import type { Presented } from './refused-presentations.js'

export type Visit = Routed & {
  /** Counts one offer for this client. Throws OverLimit above the limit. */
  takeOffer(): void
  /** Throws OverLimit when too many payments of this client were refused lately. */
  checkPayment(presented: Presented): void
  /** Counts a payment that the facilitator refused. */
  noteRefused(presented: Presented, reason: string): void
  /** Counts one re-send of a failed settle. False above the limit. */
  mayResend(): boolean
  /** The receipt of a payment that is owed an answer: it was accepted before, and its handler failed. */
  readonly owed?: SettleResponse | undefined
  /** Remembers that the payment was accepted before its handler ran. Never rejects. */
  noteAccepted(receipt: SettleResponse): Promise<void>
  /** The second argument of the framework's handler, such as the route parameters of Next. */
  readonly handed?: unknown
  /** Removes headers and status message that the handler already wrote to the response. Set for express only. */
  takeBack?: () => void
  /** Set where the facilitator said nothing about the payment, or only something about itself. */
  hasNoVerdict?: boolean
  /** Set once the payment of this request is accepted. */
  isAccepted?: boolean
  /** Why the payment of this request was refused. */
  refusal?: Refusal
  /** Why no fresh offer could be issued after the refusal. */
  offerFailure?: unknown
}

export const visits = new AsyncLocalStorage<Visit>()
