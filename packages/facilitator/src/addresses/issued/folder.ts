/** Issued addresses in a folder beside the journal (LevelDB), under the journal's lock. Memory holds no addresses. */
import { bindFolder, bindJournal, type IssuedBinding, type OpenedJournal } from './binding.js'
import { createFolderAddresses } from './folder-addresses.js'
import { openLevel, put, write } from './folder-level.js'
import { keys, readFollowed, writeFollowed } from './folder-records.js'
import { createFolderTransfers } from './folder-transfers.js'
import type { FoundLimits, IssuedStore } from './store.js'

/** The folder that belongs to a journal. */
export const issuedFolderOf = (journal: string): string => `${journal}.issued`

/** Throws `SvcError('issued_unusable' | 'seed_mismatch')` when the folder cannot be used or belongs to another token or key. */
export async function openIssuedFolder(deps: {
  readonly folder: string
  readonly binding: IssuedBinding
  readonly journal: OpenedJournal
  readonly limits: FoundLimits
}): Promise<IssuedStore> {
  const level = await openLevel(deps.folder)
  try {
    await bindFolder(level, deps.folder, deps.binding)
    await bindJournal(level, deps.journal)
  } catch (error) {
    await level.close()
    throw error
  }
  return {
    ...createFolderAddresses(level),
    ...createFolderTransfers(level, deps.limits),
    async followed() {
      const value = await level.get(keys.followed)
      return value && readFollowed(value)
    },
    setFollowed: (block) => write(level, [put(keys.followed, writeFollowed(block))]),
    close: () => level.close(),
  }
}
