/** What our daemon measures itself, for its operator. */

/** Counts of the journal so far. */
export type JournalCounts = { readonly records: number; readonly syncs: number }

export async function readJournalCounts(url: string, adminToken: string): Promise<JournalCounts> {
  const answer = await fetch(`${url}/admin/status`, { headers: { authorization: `Bearer ${adminToken}` } })
  const { journal } = (await answer.json()) as { journal?: JournalCounts }
  if (!journal) throw new Error('the daemon under measurement has no journal')
  return journal
}

/** How many challenges took at most so many seconds, so far. */
export async function readChallengeTimes(
  url: string,
  adminToken: string,
): Promise<ReadonlyMap<number, number>> {
  const answer = await fetch(`${url}/admin/metrics`, { headers: { authorization: `Bearer ${adminToken}` } })
  const buckets = (await answer.text()).matchAll(
    /^svc_http_request_duration_seconds_bucket\{(?=.*endpoint="\/challenge")(?=.*status="200").*le="([\d.]+|\+Inf)".*\} (\d+)$/gm,
  )
  return new Map(
    [...buckets].map(([, bound, count]) => [Number(bound?.replace('+Inf', 'Infinity')), Number(count)]),
  )
}
