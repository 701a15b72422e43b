/** Counts of the daemon's journal so far, from its metrics. */
export type JournalCounts = { readonly records: number; readonly syncs: number }

export async function readJournalCounts(url: string, adminToken: string): Promise<JournalCounts> {
  const answer = await fetch(`${url}/admin/status`, { headers: { authorization: `Bearer ${adminToken}` } })
  const { journal } = (await answer.json()) as { journal?: JournalCounts }
  if (!journal) throw new Error('the daemon under measurement has no journal')
  return journal
}
