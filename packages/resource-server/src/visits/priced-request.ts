/**
 * A request as a price function sees it. Routers take many spellings for one route, and a query may name a thing twice:
 * if the price read one of them and the handler another, the dear thing would be sold at the cheap price.
 */
import { posix } from 'node:path'
import type { HTTPRequestContext } from '@x402/core/http'

/** A request whose price would depend on which of several values is meant. */
export class RepeatedQuery extends Error {}

/** How express and route tables match a path: in any letters, so that only the pattern says which were meant. */
export type AnyCase = {
  /** What was asked for of the path that routers are mounted at. Their patterns are told nobody. */
  readonly mount: string
  /** Patterns of the route, one of which matched the rest. None where other routes come behind it. */
  readonly patterns: readonly string[]
}

/**
 * The request with its path in one spelling, and at most one value for each name of the query. Several times where nobody
 * can tell how the handler reads it: in letters as they were asked for, or small; with dot segments, or without. The highest
 * price is the right one. Throws
 * RepeatedQuery where a name has more values, also where the framework has parsed a list or an object for its handlers.
 */
export function pricedRequests(
  context: HTTPRequestContext,
  asked: string,
  anyCase: AnyCase | undefined,
): HTTPRequestContext[] {
  const { adapter } = context
  // No URL is parsed: a request may name any host, also none that could be one.
  const [, origin = '', search = ''] = /^([a-z]+:\/\/[^/?#]*)?[^?#]*(\?[^#]*)?/i.exec(adapter.getUrl()) ?? []
  const sent = new URLSearchParams(search)
  const names = [...sent.keys()]
  const parsed = Object.entries(adapter.getQueryParams?.() ?? Object.fromEntries(sent))
  const query = new Map<string, string>()
  for (const [name, value] of parsed) {
    if (typeof value !== 'string') throw new RepeatedQuery()
    query.set(name, value)
  }
  if (new Set(names).size < names.length) throw new RepeatedQuery()
  return pathsOf(asked, anyCase).map((path) => {
    const own = {
      getPath: () => path,
      getUrl: () => `${origin}${encodeURI(path).replace(/[?#]/g, encodeURIComponent)}${search}`,
      getQueryParam: (name: string) => query.get(name),
      getQueryParams: () => Object.fromEntries(query),
    }
    const described = Object.entries(own).map(([name, value]) => [name, { value }] as const)
    const seen = Object.create(adapter, Object.fromEntries(described)) as typeof adapter
    return { ...context, path, decodedPath: path, adapter: seen }
  })
}

/**
 * The path decoded, without slashes at its end, and in the letters of its pattern. With dot segments as well as without:
 * a handler may open a file by it, or read its parameters as the router found them.
 */
export function pathsOf(asked: string, anyCase?: AnyCase): string[] {
  const spellings = spellingsOf(asked, anyCase)
  return [...new Set(spellings.flatMap((segments) => [tidied(segments), joined(segments)]))]
}

function spellingsOf(asked: string, anyCase?: AnyCase): string[][] {
  if (anyCase === undefined) return [asked.split('/').map(decode)]
  const mount = anyCase.mount.split('/').map(decode)
  const rest = asked.slice(anyCase.mount.length).split('/').map(decode)
  const spelled = anyCase.patterns.map((pattern) => spell(rest, pattern.split('/'))).find(Boolean)
  const small = [...mount.map(toSmall), ...(spelled ?? rest.map(toSmall))]
  return [[...mount, ...(spelled ?? rest)], small]
}

const toSmall = (text: string) => text.toLowerCase()

const joined = (segments: readonly string[]) => `/${segments.join('/').split('/').filter(Boolean).join('/')}`

function tidied(segments: readonly string[]): string {
  const path = posix.normalize(joined(segments))
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
}

/** The segments in the letters of the pattern, or undefined where this pattern is not the one that matched. */
function spell(segments: readonly string[], pattern: readonly string[]): string[] | undefined {
  const spelled: string[] = []
  for (const [i, segment] of segments.entries()) {
    const wanted = pattern[i]
    if (wanted?.startsWith('*')) return [...spelled, ...segments.slice(i)]
    if (wanted === undefined && segment !== '') return undefined
    if (wanted === undefined || isParameter.test(wanted)) spelled.push(segment)
    else if (toSmall(wanted) === toSmall(segment)) spelled.push(wanted)
    else return undefined
  }
  return spelled
}

/** `:id` of express, `[id]` of a route table. */
const isParameter = /^(?::\w+|\[[^\]]+\])$/

/** Each part that can be decoded, as the routers do it. */
const decode = (text: string): string =>
  text.replace(/(?:%[0-9a-f]{2})+/gi, (part) => {
    try {
      return decodeURIComponent(part)
    } catch {
      return part
    }
  })
