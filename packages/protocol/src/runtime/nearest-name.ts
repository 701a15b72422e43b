/** The known name that a misspelling probably means. */

/** Share of a name's letters that may differ in a misspelling. */
const differencePerLetter = 1 / 3

/** `letters` is the length of the part that may be misspelled. Default: the whole name. */
export function nearestName(
  name: string,
  known: readonly string[],
  letters = name.length,
): string | undefined {
  const ranked = known
    .map((candidate) => ({ candidate, distance: editDistance(name, candidate) }))
    .sort((a, b) => a.distance - b.distance)
  const [best] = ranked
  // A name that lacks a word is far in letters and near in meaning: SVC_MAX_DAY means SVC_MAX_PER_DAY.
  const longer = ranked.find(({ candidate }) => hasAllWords(candidate, name))
  if (longer && wordsOf(name).length > 1) return longer.candidate
  return best && best.distance <= letters * differencePerLetter ? best.candidate : undefined
}

const wordsOf = (name: string) => name.toLowerCase().split(/[^a-z0-9]+/)
const hasAllWords = (name: string, wanted: string) =>
  wordsOf(wanted).every((word) => wordsOf(name).includes(word))

/** Insertions, deletions and replacements that turn one word into the other. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, i) => i)
  for (const [i, letter] of [...from].entries()) {
    const next = [i + 1]
    for (const [j, other] of [...to].entries()) {
      const replaced = (row[j] ?? 0) + (letter === other ? 0 : 1)
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1))
    }
    row = next
  }
  return row[to.length] ?? 0
}
