/**
 * Which hosts may be spoken to. A rule names one host exactly: there are no patterns, because
 * `*.shop.example` is wider than most people think. Rule and URL are compared in the spelling of the URL
 * standard. Capitals, a trailing dot, unusual spellings of an IPv4 address and Unicode names therefore mean
 * the same host on both sides, or no host at all.
 */
import { lookup } from 'node:dns/promises'
import { type Clock, inTime, parseUrl } from '@svc-zerc20/protocol'

export type Host = {
  /** As `URL.hostname` writes it, without a trailing dot; IPv6 in brackets. */
  readonly hostname: string
  /** Undefined allows every port. */
  readonly port: string | undefined
}

export type HostRule = 'any' | readonly Host[]

const hostsMax = 1_000

/** Reads a list of hosts; with `*` among them it allows all. A comma at the end adds nothing. */
export function parseHostRules(entries: readonly string[]): Reading<HostRule> {
  const all = entries.map((entry) => entry.trim())
  const names = all.length > 1 && all.at(-1) === '' ? all.slice(0, -1) : all
  if (names.length > hostsMax) return { fault: `there are more than ${hostsMax} hosts` }
  const hosts: Host[] = []
  for (const name of names) {
    const host = parseHost(name)
    if (host === undefined && name !== '*') return { fault: faultOf(name) }
    if (host) hosts.push(host)
  }
  return { value: names.includes('*') ? 'any' : hosts }
}

function faultOf(name: string): string {
  if (name === '') return 'an entry is empty'
  const shown = JSON.stringify(name.slice(0, 80).replace(/[^\x20-\x7e]/g, '?'))
  if (name.includes('*')) return `${shown} is a pattern, and hosts are named exactly`
  return `${shown} is no hostname`
}

function parseHost(name: string): Host | undefined {
  // A bare IPv6 address has its own colons.
  const written = /^[0-9a-f:.]*:[0-9a-f:.]*:[0-9a-f:.]*$/i.test(name) ? `[${name}]` : name
  if (/[\s/?#@\\*]/.test(written) || written === '') return undefined
  // Parsed once for each scheme: the standard drops a port that is the scheme's own.
  const [plain, secure] = [parseUrl(`http://${written}`), parseUrl(`https://${written}`)]
  if (!plain || !secure) return undefined
  const { hostname, port } = plain
  const canonical = withoutDot(hostname)
  return canonical === '' ? undefined : { hostname: canonical, port: port || secure.port || undefined }
}

const withoutDot = (hostname: string) => hostname.replace(/\.$/, '')

/**
 * The host of a URL in the form that rules compare. Undefined when no payment may go there, whatever the
 * rules say.
 */
export function hostOf(url: string): Required<Host> | undefined {
  const parsed = parseUrl(url)
  if (!parsed) return undefined
  const { protocol, hostname, port, username, password } = parsed
  if (protocol !== 'http:' && protocol !== 'https:') return undefined
  // A user name before an @ can be mistaken for the host.
  if (username !== '' || password !== '') return undefined
  const canonical = withoutDot(hostname)
  // A name with two dots at the end is invalid, but a resolver may still accept it.
  if (canonical === '' || canonical.endsWith('.')) return undefined
  return { hostname: canonical, port: port || (protocol === 'https:' ? '443' : '80') }
}

/** Whether a URL leads to a host that the rule allows. */
export function allowsUrl(rule: HostRule, url: string): boolean {
  const host = hostOf(url)
  if (host === undefined) return false
  if (rule === 'any') return true
  return rule.some(
    ({ hostname, port }) => hostname === host.hostname && (port === undefined || port === host.port),
  )
}

export const describeHosts = (rule: HostRule): string =>
  rule === 'any'
    ? '*'
    : rule.map(({ hostname, port }) => (port ? `${hostname}:${port}` : hostname)).join(',') || 'none'

/** Longest wait for the name service. A request to the host has just been answered, so that the name is known. */
const lookupMsMax = 2_000
const addressesMax = 16
/** Addresses that all lead to this machine, under which one server would otherwise be several hosts. */
const isThisMachine = (address: string) => /^(?:127\.|0\.0\.0\.0$|::1?$)/.test(address)

/** One spelling for each server: IPv4 addresses in IPv6 are those of IPv4, and this machine has one address. */
export function oneAddress(address: string): string {
  const { hostname = address } = parseUrl(`http://[${address}]`) ?? {}
  const [, high = '', low = ''] = /^\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/.exec(hostname) ?? []
  const bytes = [high, low].flatMap((half) => {
    const value = Number.parseInt(half, 16)
    return [value >> 8, value & 0xff]
  })
  const plain = high === '' ? address : bytes.join('.')
  return isThisMachine(plain) ? '127.0.0.1' : plain
}

/** The addresses behind a hostname as a URL writes it. None when the name service does not tell. */
export async function addressesOf(hostname: string, clock: Pick<Clock, 'sleep'>): Promise<readonly string[]> {
  const answers = lookup(hostname.replace(/^\[(.*)\]$/, '$1'), { all: true }).catch(() => [])
  const addresses = await inTime(answers, lookupMsMax, clock)
  if (addresses === 'late') return []
  return [...new Set(addresses.map(({ address }) => oneAddress(address)))].sort().slice(0, addressesMax)
}

/** The result of reading a text: its value, or a description of its fault. */
export type Reading<T> = { readonly value: T } | { readonly fault: string }
