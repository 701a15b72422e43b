import type { Clock } from '@svc-zerc20/protocol'

/** Decides the timestamp of the next block, in Unix seconds. */
export type ChainTime = {
  /** A forced timestamp once, else the clock's second plus the offset. Never before the parent. */
  next(parentTimestamp: number): number
  /** Moves all later blocks forward. Returns the total offset in seconds. */
  increase(seconds: number): number
  /** Forces the next block's timestamp; later blocks go on from there. */
  force(timestamp: number): void
  save(): ChainTimeState
  restore(state: ChainTimeState): void
}

export type ChainTimeState = { offsetSeconds: number; forced: number | undefined }

/** Creates the chain's time: the given clock plus an offset that tests may move. */
export function createChainTime({ clock }: { clock: Pick<Clock, 'now'> }): ChainTime {
  let state: ChainTimeState = { offsetSeconds: 0, forced: undefined }
  const nowSeconds = () => Math.floor(clock.now() / 1000)
  return {
    next(parentTimestamp) {
      const { forced } = state
      if (forced !== undefined) {
        state = { offsetSeconds: forced - nowSeconds(), forced: undefined }
        return Math.max(parentTimestamp, forced)
      }
      // Blocks within one second share its timestamp. A clock that goes back does not turn the chain back.
      return Math.max(parentTimestamp, nowSeconds() + state.offsetSeconds)
    },
    increase(seconds) {
      state = { ...state, offsetSeconds: state.offsetSeconds + seconds }
      return state.offsetSeconds
    },
    force(timestamp) {
      state = { ...state, forced: timestamp }
    },
    save: () => state,
    restore(saved) {
      state = saved
    },
  }
}
