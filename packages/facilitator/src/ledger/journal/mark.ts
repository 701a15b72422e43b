/**
 * The mark of a journal: a small file beside it that tells how far the journal had come. With the mark, a start notices
 * an empty file or an old copy in the journal's place. The mark may lag behind the journal, and is never ahead of it.
 */
import { open, readFile, rename } from 'node:fs/promises'
import { SvcError } from '@svc-zerc20/protocol'

export type JournalMark = {
  /** The journal's id, from its first record. */
  readonly id: string
  /** How often the journal was written anew. Its records are counted from one each time. */
  readonly generation: number
  readonly records: number
}

const format = 1

export const markFileOf = (journal: string): string => `${journal}.mark`

/** Undefined when there is no mark, or none that can be read: a mark is a warning and nothing more. */
export async function readMark(path: string): Promise<JournalMark | undefined> {
  try {
    const { format: found, id, generation, records } = Object(JSON.parse(await readFile(path, 'utf8')))
    const isWhole =
      found === format && typeof id === 'string' && [generation, records].every(Number.isSafeInteger)
    return isWhole ? { id, generation, records } : undefined
  } catch {
    return undefined
  }
}

export async function writeMark(path: string, mark: JournalMark): Promise<void> {
  const temporary = `${path}.new`
  const file = await open(temporary, 'w', 0o600)
  try {
    await file.writeFile(`${JSON.stringify({ format, ...mark })}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(temporary, path)
}

export const isBefore = (a: JournalMark, b: JournalMark): boolean =>
  a.generation === b.generation ? a.records < b.records : a.generation < b.generation

/** Throws `SvcError('journal_old')` when the file is not the journal that the mark speaks of, as far as that had come. */
export function assertNewest(
  journal: string,
  found: Omit<JournalMark, 'id'> & { readonly id: string | undefined },
  mark: JournalMark | undefined,
): void {
  if (!mark) return
  const { id } = found
  const held = `held ${mark.records} records`
  if (found.records === 0) throw old(`${journal} is empty or missing, and ${held}`)
  if (id === undefined) {
    throw old(`${journal} is not the one that was here and ${held}; perhaps an older version wrote it anew`)
  }
  if (id !== mark.id) throw old(`${journal} is not the one that was here and ${held}`)
  if (isBefore({ ...found, id }, mark))
    throw old(`${journal} is an old copy: it has ${found.records} records, and ${held}`)
}

export const old = (why: string): SvcError =>
  new SvcError(
    'journal_old',
    `settlement.journal: ${why}. A daemon that does not know its newest payments grants them a second time and forgets ` +
      'what payers burned. Put the newest journal back. If there is none, wait until every challenge of that time has ' +
      'expired and is past its retention, and run `svc-facilitator recover --accept-journal` before the next start',
  )
