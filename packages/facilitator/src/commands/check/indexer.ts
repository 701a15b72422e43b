/** Checks that the token indexer answers. Only a warning, because our own tree can replace it. */

import { maskUrl, urlAndHeaders } from '../../config/credentials.js'
import { type Finding, ok, warn } from '../../config/finding.js'
import { limits } from '../../config/limits.js'

const key = 'network.indexer_url'

export async function probeIndexer(indexerUrl: string | undefined): Promise<Finding[]> {
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
