import { ipv6SubscriberOf } from '@svc-zerc20/protocol'

/** The key that a caller is counted by. Callers that hung up have no address any more, and share one key. */
export function callerKey(ip: string | undefined): string {
  if (ip === undefined) return 'gone'
  return ipv6SubscriberOf(ip) ?? ip
}
