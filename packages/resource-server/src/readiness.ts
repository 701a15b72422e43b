/** Asks the facilitator what it supports: once when it answers, and with every request until it does. */
import { Offer } from '@svc-zerc20/protocol'
import type { x402ResourceServer } from '@x402/core/server'
import { facilitatorFailure, isFacilitatorFailure } from './facilitator-client.js'
import type { SvcScheme } from './scheme.js'

/** Rejects with FacilitatorFailure while the facilitator cannot be used. */
export type Ready = () => Promise<void>

export function createReady(server: x402ResourceServer, { network, scheme }: SvcScheme): Ready {
  let isReady = false
  let asking: Promise<void> | undefined
  async function ask(): Promise<void> {
    await server.initialize().catch((error: unknown) => {
      throw failureIn(error) ?? error
    })
    if (server.getSupportedKind(Offer.x402Version, network, scheme) === undefined) {
      throw facilitatorFailure(`the facilitator does not take ${scheme} on ${network}`)
    }
    isReady = true
  }
  return async () => {
    if (isReady) return
    asking ??= ask().finally(() => {
      asking = undefined
    })
    await asking
  }
}

function failureIn(error: unknown): unknown {
  if (isFacilitatorFailure(error)) return error
  return error instanceof Error && error.cause !== undefined ? failureIn(error.cause) : undefined
}
