/**
 * A request as a price function sees it. Routers take many spellings for one route, and a query may name a thing twice:
 * if the price read one of them and the handler another, the dear thing would be sold at the cheap price.
 */
import { posix } from 'node:path'
import type { HTTPRequestContext } from '@x402/core/http'

/** A request whose price would depend on which of several values is meant. */
export class RepeatedQuery extends Error {}

/** Route parameters as a framework hands them to handlers. */
export type Params = Readonly<Record<string, string | readonly string[] | undefined>>

export type PricedRequest = HTTPRequestContext & { readonly params: Params }

/** How express and route tables match a path: in any letters, so that only the pattern says which were meant. */
export type AnyCase = {
  /** What was asked for of the path that routers are mounted at. Their patterns are told nobody. */
  readonly mount: string
  /** Patterns of the route, one of which matched the rest. None where other routes come behind it. */
  readonly patterns: readonly string[]
}

/** How a router took a request. */
export type Routed = {
  /** Includes the prefixes of all parent routers. */
  readonly path: string
  /** Given where the router takes other letters for the same. */
  readonly anyCase?: AnyCase | undefined
  readonly params?: Params | undefined
}

/**
 * The highest price of all readings of a request. A reading that the price function throws for is none, unless it throws for
 * all of them. Throws RepeatedQuery where a name of the query has more values.
 */
export async function highestPrice<Price>(
  context: HTTPRequestContext,
  routed: Routed = tabled(context),
  ask: (request: PricedRequest) => Price | Promise<Price>,
  amountOf: (price: Price) => bigint | number,
): Promise<Price> {
  const asked = pricedRequests(context, routed).map(async (request) => ask(request))
  const answers = await Promise.allSettled(asked)
  const prices = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
  if (prices.length === 0) await Promise.all(asked)
  return prices.reduce((highest, price) => (amountOf(price) > amountOf(highest) ? price : highest))
}

/** A route table stands before all routes: a pattern with a star has other routes behind it. */
function tabled({ path, routePattern = '*' }: HTTPRequestContext): Routed {
  const [asked, pattern] = [path, routePattern].map((text) => text.split('/').filter(Boolean))
  const params = pattern?.flatMap((part, i) => {
    const [, name] = /^[:[](\w+)\]?$/.exec(part) ?? []
    return name === undefined ? [] : [[name, decode(asked?.[i] ?? '')] as const]
  })
  const patterns = routePattern.includes('*') ? [] : [routePattern]
  return { path, anyCase: { mount: '', patterns }, params: Object.fromEntries(params ?? []) }
}

/**
 * The request with its path in one spelling, and at most one value for each name of the query. Several times where nobody
 * can tell how the handler reads it: in letters as they were asked for, or small; with dot segments, or without. Throws
 * RepeatedQuery where a name has more values, also where the framework has parsed a list or an object for its handlers.
 */
function pricedRequests(context: HTTPRequestContext, routed: Routed): PricedRequest[] {
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
  const { params = {} } = routed
  return pathsOf(routed).map((path) => {
    const own = {
      getPath: () => path,
      getUrl: () => `${origin}${encodeURI(path).replace(/[?#]/g, encodeURIComponent)}${search}`,
      getQueryParam: (name: string) => query.get(name),
      getQueryParams: () => Object.fromEntries(query),
    }
    const described = Object.entries(own).map(([name, value]) => [name, { value }] as const)
    const seen = Object.create(adapter, Object.fromEntries(described)) as typeof adapter
    return { ...context, path, decodedPath: path, adapter: seen, params }
  })
}

/**
 * The path decoded, without slashes at its end, and in the letters of its pattern. With dot segments as well as without:
 * a handler may open a file by it, or read its parameters as the router found them.
 */
export const pathsOf = (routed: Routed): string[] => [
  ...new Set(spellingsOf(routed).flatMap((path) => [joined(posix.normalize(path)), path])),
]

function spellingsOf({ path, anyCase, params }: Routed): string[] {
  if (anyCase === undefined) return [joined(decode(path))]
  const mount = decode(anyCase.mount)
  const rest = joined(decode(path.slice(anyCase.mount.length)))
  const spelled = anyCase.patterns
    .flatMap((pattern) => fill(pattern, params ?? {}))
    .find((filled) => toSmall(filled) === toSmall(rest))
  return [joined(mount + (spelled ?? rest)), joined(toSmall(mount) + (spelled ?? toSmall(rest)))]
}

const toSmall = (text: string) => text.toLowerCase()

const joined = (path: string) => `/${path.split('/').filter(Boolean).join('/')}`

/** A part in braces may be absent. The innermost come first. */
const optional = /(?<!\\)\{([^{}]*)\}/

/** `:id`, `:"id"` and `*rest` of express, `[id]` of a route table, and what a backslash makes a letter like others. */
const parameter = /\\(.)|[:*](?:"([^"]*)"|([\p{ID_Continue}$]+))|\[([^\]]+)\]/gu

/** The paths that these parameters make of a pattern: with and without each of its optional parts. */
function fill(pattern: string, params: Params): string[] {
  const [group, inside = ''] = optional.exec(pattern) ?? []
  if (group !== undefined)
    return [inside, ''].flatMap((part) => fill(pattern.split(group).join(part), params))
  const spell = (_: string, letter?: string, ...names: (string | undefined)[]) =>
    letter ?? [params[names.slice(0, 3).find(Boolean) ?? '']].flat().join('/')
  return [joined(decode(pattern).replace(parameter, spell))]
}

/** Each part that can be decoded, as the routers do it. */
const decode = (text: string): string =>
  text.replace(/(?:%[0-9a-f]{2})+/gi, (part) => {
    try {
      return decodeURIComponent(part)
    } catch {
      return part
    }
  })
