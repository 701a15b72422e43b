/** Checks the surroundings of the daemon: the token indexer, and the listen address. */
import { createServer } from 'node:net'
import { Network, Offer } from '@svc-zerc20/protocol'
import type { PartialConfig } from '../../config/config.js'
import { maskUrl, urlAndHeaders } from '../../config/credentials.js'
import { type Finding, fail, ok, outage, warn } from '../../config/finding.js'
import { limits } from '../../config/limits.js'
import { urlOf } from '../../config/settings.js'

/** Checks that the token indexer answers. Only a warning, because our own tree can replace it. */
export async function probeIndexer(indexerUrl: string | undefined): Promise<Finding[]> {
  const key = 'network.indexer_url'
  if (indexerUrl === undefined) return []
  const { url, headers } = urlAndHeaders(indexerUrl)
  url.pathname = `${url.pathname.replace(/\/$/, '')}/healthz`
  const asked = maskUrl(url.href)
  try {
    const signal = AbortSignal.timeout(limits.checkAnswerMs)
    const response = await fetch(url, { headers, signal, redirect: 'manual' })
    await response.body?.cancel()
    if (response.ok) return [ok(key, `${asked} answers`)]
    return [warn(key, `${asked} answered with status ${response.status}`)]
  } catch {
    // The original error may show the URL with its credentials, so only our own message is printed.
    return [warn(key, `${asked} did not answer`)]
  }
}

/** Checks that the daemon's listen address is free. */
export async function probeListen(
  { listen: { host, port }, network }: Pick<PartialConfig, 'listen' | 'network'>,
  { isBeside }: { readonly isBeside: boolean },
): Promise<Finding[]> {
  // Port 0 means any free port, so there is nothing to check.
  if (host === undefined || port === undefined || port === 0) return []
  const code = await bind(host, port)
  if (code === undefined) return [ok('listen.port', `${port} at ${host} is free`)]
  if (code === 'EADDRINUSE') {
    const at = `${port} at ${host} is in use by`
    if (isBeside && (await isFacilitator(urlOf({ host, port }), network.chain_id))) {
      return [ok('listen.port', `${at} a facilitator of this network that runs`)]
    }
    return [outage('listen.port', `${at} another process, perhaps by a daemon that runs`)]
  }
  const key = code === 'EACCES' ? 'listen.port' : 'listen.host'
  return [fail(key, `cannot listen at ${host} port ${port} (${code})`)]
}

/** Whether our own daemon answers there: the file may be checked beside it, before it is started again. */
async function isFacilitator(url: string, chainId: number | undefined): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(limits.checkAnswerMs)
    const response = await fetch(`${url}/supported`, { redirect: 'error', signal })
    const { kinds } = Object(await response.json()) as { kinds?: unknown }
    if (!Array.isArray(kinds) || chainId === undefined) return false
    return kinds.some(({ scheme, network }) => scheme === Offer.scheme && network === Network.format(chainId))
  } catch {
    return false
  }
}

/** Listens for a moment. Returns the error code when that fails. */
function bind(host: string, port: number): Promise<string | undefined> {
  const server = createServer()
  return new Promise((resolve) => {
    server.once('error', ({ code = 'unknown error' }: NodeJS.ErrnoException) => resolve(code))
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)))
  })
}
