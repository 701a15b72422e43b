/** Asks the facilitator what it supports. Until it answers, later requests ask again; after that, nobody does. */
import { type Clock, Offer } from '@svc-zerc20/protocol'
import type { x402ResourceServer } from '@x402/core/server'
import { facilitatorFailure, isFacilitatorFailure } from '../facilitator/client.js'
import { supportedPerMinute } from '../limits.js'
import type { SvcScheme } from '../scheme/scheme.js'
import { type Bucket, filled, secondsUntilOne, takenFrom } from '../visits/bucket.js'

/** Rejects with FacilitatorFailure while the facilitator cannot be used. */
export type Ready = () => Promise<void>

export function createReady(server: x402ResourceServer, { network, scheme }: SvcScheme, clock: Clock): Ready {
  let isReady = false
  let asking: Promise<void> | undefined
  let asks: Bucket | undefined
  let latestFailure: unknown
  async function ask(): Promise<void> {
    await server.initialize().catch((error: unknown) => {
      throw failureIn(error) ?? error
    })
    if (server.getSupportedKind(Offer.x402Version, network, scheme) === undefined) {
      throw facilitatorFailure(`the facilitator does not take ${scheme} on ${network}`)
    }
    isReady = true
  }
  // The limit keeps a flood of free requests from becoming a flood of calls to the facilitator. Below the limit the next
  // request asks again at once, so that one failure does not keep payers out.
  async function askWithinLimit(): Promise<void> {
    asks = filled(asks, supportedPerMinute, clock.now())
    if (secondsUntilOne(asks, supportedPerMinute) > 0) throw latestFailure
    asks = takenFrom(asks)
    await ask().catch((error: unknown) => {
      latestFailure = error
      throw error
    })
  }
  return async () => {
    if (isReady) return
    asking ??= askWithinLimit().finally(() => {
      asking = undefined
    })
    await asking
  }
}

function failureIn(error: unknown): unknown {
  if (isFacilitatorFailure(error)) return error
  return error instanceof Error && error.cause !== undefined ? failureIn(error.cause) : undefined
}
