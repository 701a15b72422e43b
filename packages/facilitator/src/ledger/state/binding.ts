/** What a journal is bound to, as its records change it. */
import type { Binding } from '../records/events.js'

export type LedgerBinding = {
  /** Undefined in a new journal. */
  current(): Binding | undefined
  bind(next: Binding): void
  /** Of the relayer: the highest nonce it signed for outlives the record that said so. */
  noteTxNonce(txNonce: number): void
  /** The binding in the next file, when the journal is written anew. */
  writtenAnew(): Binding | undefined
  /** That file has become the journal. */
  noteWrittenAnew(): void
}

export function createLedgerBinding(): LedgerBinding {
  let binding: Binding | undefined

  function writtenAnew(): Binding | undefined {
    if (binding?.id === undefined) return binding
    return { ...binding, generation: (binding.generation ?? 0) + 1 }
  }

  return {
    current: () => binding,
    bind(next) {
      const { id, generation = 0 } = next
      // A binding that was recorded while the journal was written anew speaks of the file before.
      const later = binding && binding.id === id ? Math.max(binding.generation ?? 0, generation) : generation
      binding = { ...next, ...(id !== undefined && { generation: later }) }
    },
    noteTxNonce(txNonce) {
      if (!binding?.relayer || txNonce <= binding.relayer.nonce) return
      binding = { ...binding, relayer: { ...binding.relayer, nonce: txNonce } }
    },
    writtenAnew,
    noteWrittenAnew() {
      binding = writtenAnew()
    },
  }
}
