/** The binding of a journal, as its records change it. */
import type { Binding } from '../events/events.js'

export type LedgerBinding = {
  /** Undefined in a new journal. */
  current(): Binding | undefined
  bind(next: Binding): void
  /** Keeps the relayer's highest nonce, which must outlive the record of its transaction. */
  noteTxNonce(txNonce: number): void
  /** The binding in the next file, when the journal is written anew. */
  writtenAnew(): Binding | undefined
  /** The next file has become the journal. */
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
      // A binding that was recorded while the journal was written anew has the generation of the old file.
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
