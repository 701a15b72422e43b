export { type Clock, unixSeconds } from '@svc-zerc20/protocol'
export { systemClock } from '@svc-zerc20/protocol/system-clock'
