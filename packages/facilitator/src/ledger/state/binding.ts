/** The binding of a journal, as its records change it. */
import type { SignedTransaction } from '../../payment/records.js'
import type { Binding } from '../events/events.js'

export type LedgerBinding = {
  /** Undefined in a new journal. */
  current(): Binding | undefined
  bind(next: Binding): void
  /** Keeps the highest nonce of the account that signed, which must outlive the record of its transaction. */
  noteTxNonce(transaction: Pick<SignedTransaction, 'txNonce' | 'from'>): void
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
    noteTxNonce({ txNonce: nonce, from }) {
      const name = from === undefined ? 'relayer' : 'minter'
      const known = binding?.[name]
      // A minter of an earlier run may have had another key.
      const isOther = from !== undefined && known?.address !== from
      if (!binding || !known || isOther || nonce <= known.nonce) return
      binding = { ...binding, [name]: { ...known, nonce } }
    },
    writtenAnew,
    noteWrittenAnew() {
      binding = writtenAnew()
    },
  }
}
