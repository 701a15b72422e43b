import type { ConnectionBounds } from '@svc-zerc20/daemon'

/** Bounds for servers of a test: short enough to be waited for. */
export const connectionBounds: ConnectionBounds = {
  headMs: 500,
  requestMs: 1_000,
  lookMs: 50,
  keptMs: 1_000,
  silentMs: 1_000,
  max: 8,
  perCallerMax: 4,
}
