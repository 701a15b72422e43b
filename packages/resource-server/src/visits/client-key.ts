/** The key under which the limits count a client: its IPv4 address, the /64 of its IPv6 address, or the seller's name. */
import { isIPv6 } from 'node:net'

const nameCharactersMax = 128

export function clientKey(client: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(client)?.[1]
  if (mapped !== undefined) return mapped
  const address = client.split('%', 1)[0] ?? client
  return isIPv6(address) ? prefixOf(address) : client.slice(0, nameCharactersMax)
}

/** Providers give each subscriber a whole /64, so all addresses in it count as one client. */
function prefixOf(address: string): string {
  // The URL parser writes every IPv6 address in one way: lower case, no leading zeros, the longest run of zeros as ::.
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const left = head.split(':').filter((group) => group !== '')
  const right = tail?.split(':').filter((group) => group !== '') ?? []
  const zeros: string[] = Array(8 - left.length - right.length).fill('0')
  return `${[...left, ...zeros, ...right].slice(0, 4).join(':')}::/64`
}
