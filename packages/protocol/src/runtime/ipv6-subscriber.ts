import { parseUrl } from './parse-url.js'

/**
 * The subscriber behind an IPv6 address: the /64, because a subscriber gets one whole and can call from every address
 * in it. An IPv4 address that is written as an IPv6 one is that IPv4 address. Undefined for every other text.
 */
export function ipv6SubscriberOf(text: string): string | undefined {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(text)?.[1]
  if (mapped !== undefined) return mapped
  const [address = ''] = text.split('%', 1)
  const url = /^[0-9a-f:.]+$/i.test(address) ? parseUrl(`http://[${address}]`) : undefined
  if (!url) return undefined
  // The URL parser writes every IPv6 address in one way: lower case, no leading zeros, the longest run of zeros as ::.
  const [head = '', tail = ''] = url.hostname.slice(1, -1).split('::')
  const groupsOf = (part: string) => part.split(':').filter((group) => group !== '')
  const [left, right] = [groupsOf(head), groupsOf(tail)]
  const zeros: string[] = Array(8 - left.length - right.length).fill('0')
  return `${[...left, ...zeros, ...right].slice(0, 4).join(':')}::/64`
}
