/** Saves the ledger to a file beside the journal's place, when the journal is gone. */

import { fieldsOf } from './compact-ledger.js'
import { writeJournal } from './journal/compaction.js'
import { rescuedOf } from './journal/file-place.js'
import type { LedgerState } from './state/state.js'
import type { LedgerSteps } from './steps.js'

/** Every call saves the whole ledger again. A failure is told to `onFailure`. */
export function createRescue(deps: {
  path: string
  state: LedgerState
  steps: Pick<LedgerSteps, 'alone'>
  onFailure: (err: unknown) => void
}): () => Promise<void> {
  let saving: Promise<void> = Promise.resolve()

  async function save(): Promise<void> {
    const { events, release } = await deps.steps.alone(() => {
      const taken = deps.state.shortest()
      return { events: taken.events(), release: taken.release }
    })
    try {
      await writeJournal(rescuedOf(deps.path), fieldsOf(events))
    } catch (err) {
      deps.onFailure(err)
    } finally {
      release()
    }
  }

  return () => {
    saving = saving.then(save)
    return saving
  }
}
