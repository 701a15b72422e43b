/** Checks that the token indexer answers. Only a warning, because our own tree can replace it. */

import { maskUrl, urlAndHeaders } from '../../config/credentials.js'
import type { Finding } from '../../config/finding.js'
import { checkLimits } from './limits.js'

const key = 'network.indexer_url'

export async function probeIndexer(indexerUrl: string | undefined): Promise<Finding[]> {
  if (indexerUrl === undefined) return []
  const { url, headers } = urlAndHeaders(indexerUrl)
  url.pathname = `${url.pathname.replace(/\/$/, '')}/healthz`
  const asked = maskUrl(url.href)
  try {
    const signal = AbortSignal.timeout(checkLimits.indexerTimeoutMs)
    const response = await fetch(url, { headers, signal, redirect: 'manual' })
    await response.body?.cancel()
    if (response.ok) return [{ level: 'ok', key, message: `${asked} answers` }]
    return [{ level: 'warn', key, message: `${asked} answered with status ${response.status}` }]
  } catch {
    // The original error may show the URL with its credentials, so only our own message is printed.
    return [{ level: 'warn', key, message: `${asked} did not answer` }]
  }
}
