import type { ConnectionBounds } from '@svc-zerc20/daemon'

/** Connection limits for test servers, short enough for a test. */
export const connectionBounds: ConnectionBounds = {
  headMs: 500,
  requestMs: 1_000,
  pollMs: 50,
  keptMs: 1_000,
  silentMs: 1_000,
  max: 20,
  areCallersTold: true,
  turnedAwayMax: 2,
  sentAwayMax: 4,
  turnedAwayMs: 500,
}
