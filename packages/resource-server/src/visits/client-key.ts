/** The key under which the limits count a client: its IPv4 address, the /64 of its IPv6 address, or the seller's name. */
import { ipv6SubscriberOf } from '@svc-zerc20/protocol'

const nameCharactersMax = 128

export const clientKey = (client: string): string =>
  ipv6SubscriberOf(client) ?? client.slice(0, nameCharactersMax)
