/**
 * The devnet in a browser, on loopback only: a page with prices, the shop behind it with a development wallet in its
 * pages, and the way of a payment. Programs use the shop itself.
 */
import { createServer, type IncomingMessage } from 'node:http'
import { listenOnLoopback, loopbackHost, readBody } from '../node/rpc/loopback.js'
import { createDevWallet } from './dev-wallet.js'
import { createJourneys, type JourneySources } from './journey.js'
import { added, pageHeaders, storefrontPage, withWallet, withWallets } from './page.js'

export type Storefront = { readonly url: string; close(): Promise<void> }

type Answer = {
  readonly status: number
  readonly headers: Record<string, string | string[]>
  readonly body: string | Uint8Array
}

const bodyBytesMax = 65_536

export async function startStorefront(options: {
  readonly port: number
  readonly shopUrl: string
  readonly rpcUrl: string
  readonly chainId: number
  /** Whether the facilitator keeps a payment history, and so has a page for it. */
  readonly hasHistory: boolean
  readonly sources: JourneySources
}): Promise<Storefront> {
  const { sources } = options
  const wallet = createDevWallet(options)
  const journeys = createJourneys(sources)
  const page = storefrontPage(options.hasHistory)
  const server = createServer((request, response) => {
    request.on('error', () => undefined)
    answer(request)
      .catch((error: unknown) => json(502, { error: `something of the network does not answer: ${error}` }))
      .then(({ status, headers, body }) => response.writeHead(status, headers).end(body))
  })

  async function answer(request: IncomingMessage): Promise<Answer> {
    const { method, url = '/', headers } = request
    // A foreign name that was made to point here is no name of ours, so its pages can ask for nothing.
    if (!isOurs(headers.host)) return json(421, { error: `ask for ${loopbackHost}` })
    const { pathname } = new URL(url, 'http://storefront')
    if (/^\/(?:dashboard|admin|history)(?:\/|$)/.test(pathname))
      return withScript(await passOn(request, sources.facilitatorUrl + url))
    // No page of another site may even embed what is the operator's.
    if (pathname.startsWith('/devnet/') && !/^(?:same-origin|none)?$/.test(siteOf(request)))
      return json(403, { error: 'only for pages of this origin' })
    if (pathname === '/devnet/wallet') return sign(request)
    if (method !== 'GET') return json(405, { error: 'use GET' })
    if (pathname.startsWith('/devnet/')) return ownAnswer(pathname)
    if (pathname === '/') return { status: 200, headers: pageHeaders, body: page }
    return withWalletIn(await passOn(request, options.shopUrl + url))
  }

  async function ownAnswer(path: string): Promise<Answer> {
    if (path === '/devnet/operator') return json(200, { token: sources.adminToken })
    if (path in added) {
      const { type, text } = added[path as keyof typeof added]
      return { status: 200, headers: { ...unsniffed, 'content-type': type }, body: text }
    }
    const [, nonce] = /^\/devnet\/payments\/(newest|0x[0-9a-f]{64})$/.exec(path) ?? []
    if (nonce === undefined) return json(404, { error: 'not found' })
    const journey = await (nonce === 'newest' ? journeys.newest() : journeys.of(nonce))
    // Nothing to show is no error: there was no payment yet.
    return journey ? json(200, journey) : { status: 204, headers: {}, body: '' }
  }

  const isOurs = (host: string | undefined) =>
    [loopbackHost, 'localhost'].some((name) => host === `${name}:${listening.port}`)

  /** Only pages of this origin: a browser sends their origin with every POST, and JSON is sent from no other one. */
  async function sign(request: IncomingMessage): Promise<Answer> {
    const { method, headers } = request
    if (method !== 'POST' || headers.origin !== `http://${headers.host}`)
      return json(403, { error: 'only for pages of this origin' })
    if (!/^application\/json\b/.test(headers['content-type'] ?? ''))
      return json(415, { error: 'send application/json' })
    const text = await readBody(request, bodyBytesMax)
    if (text === undefined) return json(413, { error: 'body too large' })
    try {
      return json(200, await wallet(JSON.parse(text)))
    } catch (error) {
      return json(200, { error: { code: -32602, message: String(error) } })
    }
  }

  const listening = await listenOnLoopback(server, options.port)
  return { url: `http://${loopbackHost}:${listening.port}`, close: listening.close }
}

/** How a browser names the site that asks. Programs say nothing. */
const siteOf = ({ headers }: IncomingMessage) => `${headers['sec-fetch-site'] ?? ''}`

const unsniffed = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }

const json = (status: number, body: object): Answer => ({
  status,
  headers: { ...unsniffed, 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

/** What shop and facilitator are told of a request. */
const passedOn = ['accept', 'authorization', 'content-type', 'cookie', 'payment-signature', 'user-agent']
/** What belongs to a connection, and not to an answer. */
const ofConnection = [
  'connection',
  'keep-alive',
  'transfer-encoding',
  'content-length',
  'content-encoding',
  'date',
]

async function passOn(request: IncomingMessage, url: string): Promise<Answer> {
  const { method = 'GET', headers: asked } = request
  const headers = passedOn.flatMap((name) =>
    asked[name] ? [[name, String(asked[name])] as [string, string]] : [],
  )
  const body = method === 'GET' ? undefined : await readBody(request, bodyBytesMax)
  const response = await fetch(url, { method, headers, redirect: 'manual', ...(body && { body }) })
  return {
    status: response.status,
    headers: Object.fromEntries([...response.headers].filter(([name]) => !ofConnection.includes(name))),
    body: new Uint8Array(await response.arrayBuffer()),
  }
}

const textOf = ({ body }: Answer) => Buffer.from(body as Uint8Array).toString('utf8')
const isPage = ({ headers }: Answer) => `${headers['content-type']}`.startsWith('text/html')

/** What was bought is the shop's alone; only its page to pay on gets the development wallet. */
function withWalletIn(answer: Answer): Answer {
  const policy = answer.headers['content-security-policy']
  if (answer.status === 200 || policy === undefined || !isPage(answer)) return answer
  const page = withWallet(textOf(answer), `${policy}`)
  return {
    ...answer,
    headers: { ...answer.headers, 'content-security-policy': page.policy },
    body: page.html,
  }
}

const withScript = (answer: Answer): Answer =>
  isPage(answer) ? { ...answer, body: withWallets(textOf(answer)) } : answer
