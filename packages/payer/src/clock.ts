import type { Clock } from '@svc-zerc20/protocol'

export type { Clock } from '@svc-zerc20/protocol'
export { systemClock } from '@svc-zerc20/protocol/system-clock'

export const unixSeconds = (clock: Clock): number => Math.floor(clock.now() / 1_000)
