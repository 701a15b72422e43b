import { isIPv6 } from 'node:net'

/**
 * The key of a caller: its IPv4 address, or the /64 of its IPv6 address, because a subscriber gets a whole /64. A caller
 * that hung up has no address any more; all of those share one key.
 */
export function callerKey(ip: string | undefined): string {
  if (ip === undefined) return 'gone'
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip)?.[1]
  if (mapped) return mapped
  const bare = ip.split('%')[0] ?? ip
  return isIPv6(bare) ? `${firstFourGroups(bare)}::/64` : bare
}

function firstFourGroups(ip: string): string {
  const [head = '', tail] = ip.split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros =
    tail === undefined ? [] : Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => '0')
  const groups = [...left, ...zeros, ...right].slice(0, 4)
  return groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')
}
