/** Whether the token indexer answers. Our own tree stands in for it, so that it only warns. */

import { maskUrl } from '../config/credentials.js'
import type { Finding } from '../finding.js'
import { checkLimits } from './limits.js'

const key = 'network.indexer_url'

export async function probeIndexer(indexerUrl: string | undefined): Promise<Finding[]> {
  if (indexerUrl === undefined) return []
  const url = new URL(indexerUrl)
  const headers = authorization(url)
  url.username = ''
  url.password = ''
  url.pathname = `${url.pathname.replace(/\/$/, '')}/healthz`
  const asked = maskUrl(url.href)
  try {
    const signal = AbortSignal.timeout(checkLimits.indexerTimeoutMs)
    const response = await fetch(url, { headers, signal, redirect: 'manual' })
    await response.body?.cancel()
    if (response.ok) return [{ level: 'ok', key, message: `${asked} answers` }]
    return [{ level: 'warn', key, message: `${asked} answered with status ${response.status}` }]
  } catch {
    // Whatever went wrong on the way, its message may show the URL; ours does not show its credentials.
    return [{ level: 'warn', key, message: `${asked} did not answer` }]
  }
}

/** A request cannot be made to a URL with credentials; they go into the header they stand for. */
function authorization({ username, password }: URL): Record<string, string> {
  if (username === '') return {}
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` }
}
