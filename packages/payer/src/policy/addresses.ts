/** The addresses of a host, by which one server is known under all its names. */
import { lookup } from 'node:dns/promises'
import type { Clock } from '../clock.js'

/** Longest wait for the name service. A request to the host has just been answered, so that the name is known. */
const lookupMsMax = 2_000
const addressesMax = 16
/** An IPv4 address that is written as an IPv6 address. */
const mapped = /^::ffff:(?=\d+\.)/

/** The addresses behind a hostname as a URL writes it. None when the name service does not tell. */
export async function addressesOf(hostname: string, clock: Pick<Clock, 'sleep'>): Promise<readonly string[]> {
  const found = new AbortController()
  const nothing = clock.sleep(lookupMsMax, found.signal).then(() => [])
  const answers = lookup(hostname.replace(/^\[(.*)\]$/, '$1'), { all: true }).catch(() => [])
  const addresses = await Promise.race([answers, nothing]).finally(() => found.abort())
  return [...new Set(addresses.map(({ address }) => address.replace(mapped, '')))]
    .sort()
    .slice(0, addressesMax)
}
