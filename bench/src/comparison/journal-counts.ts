/** What the daemon's journal has written so far, as its administrative surface tells. */
export type JournalCounts = { readonly records: number; readonly syncs: number }

export async function readJournalCounts(url: string, adminToken: string): Promise<JournalCounts> {
  const answer = await fetch(`${url}/admin/status`, { headers: { authorization: `Bearer ${adminToken}` } })
  const { journal } = (await answer.json()) as { journal?: JournalCounts }
  if (!journal) throw new Error('the daemon under measurement has no journal')
  return journal
}
