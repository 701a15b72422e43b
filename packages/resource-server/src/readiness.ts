/** Asks the facilitator what it supports: once when it answers, and again and again with pauses until it does. */
import { Offer } from '@svc-zerc20/protocol'
import type { x402ResourceServer } from '@x402/core/server'
import { facilitatorFailure, isFacilitatorFailure } from './facilitator-client.js'
import { supportedPauseMs } from './limits.js'
import type { SvcScheme } from './scheme.js'
import type { Clock } from './system.js'

/** Rejects with FacilitatorFailure while the facilitator cannot be used. */
export type Ready = () => Promise<void>

export function createReady(server: x402ResourceServer, { network, scheme }: SvcScheme, clock: Clock): Ready {
  let isReady = false
  let asking: Promise<void> | undefined
  let failed: { readonly error: unknown; readonly atMs: number } | undefined
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
    // Requests cost a stranger nothing. Without a pause each of them would cost the seller a call.
    if (failed !== undefined && Math.abs(clock.now() - failed.atMs) < supportedPauseMs) throw failed.error
    asking ??= ask()
      .catch((error: unknown) => {
        failed = { error, atMs: clock.now() }
        throw error
      })
      .finally(() => {
        asking = undefined
      })
    await asking
  }
}

function failureIn(error: unknown): unknown {
  if (isFacilitatorFailure(error)) return error
  return error instanceof Error && error.cause !== undefined ? failureIn(error.cause) : undefined
}
