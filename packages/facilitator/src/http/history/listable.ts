/** The bounds of a list. A payer without an address has none: whatever it sees, it names. */
import { accept, type Result, reject, type UnixSeconds } from '@svc-zerc20/protocol'
import { boundsOf, type Sight } from '../../history/scopes.js'

export type Bounds = NonNullable<ReturnType<typeof boundsOf>>

export function listable(sight: Sight, at: UnixSeconds): Result<Bounds> {
  const bounds = boundsOf(sight, at)
  return bounds ? accept(bounds) : reject('nonce_required')
}
