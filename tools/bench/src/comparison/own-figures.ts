/** What our daemon measures itself, for its operator. */

/** Counts of the journal so far. */
export type JournalCounts = { readonly records: number; readonly syncs: number }

export async function readJournalCounts(url: string, adminToken: string): Promise<JournalCounts> {
  const answer = await fetch(`${url}/admin/status`, { headers: { authorization: `Bearer ${adminToken}` } })
  const { journal } = (await answer.json()) as { journal?: JournalCounts }
  if (!journal) throw new Error('the daemon under measurement has no journal')
  return journal
}

async function readMetrics(url: string, adminToken: string): Promise<string> {
  const answer = await fetch(`${url}/admin/metrics`, { headers: { authorization: `Bearer ${adminToken}` } })
  return answer.text()
}

/** How many signatures were recovered so far. */
export async function readRecovered(url: string, adminToken: string): Promise<number> {
  const [, count] = /^svc_signatures_recovered_total (\d+)$/m.exec(await readMetrics(url, adminToken)) ?? []
  if (count === undefined) throw new Error('the daemon under measurement does not count signatures')
  return Number(count)
}

/** How many challenges took at most so many seconds, so far. */
export async function readChallengeTimes(
  url: string,
  adminToken: string,
): Promise<ReadonlyMap<number, number>> {
  const buckets = (await readMetrics(url, adminToken)).matchAll(
    /^svc_http_request_duration_seconds_bucket\{(?=.*endpoint="\/challenge")(?=.*status="200").*le="([\d.]+|\+Inf)".*\} (\d+)$/gm,
  )
  return new Map(
    [...buckets].map(([, bound, count]) => [Number(bound?.replace('+Inf', 'Infinity')), Number(count)]),
  )
}
