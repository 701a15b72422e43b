/** Work that was under way when the last run of the daemon ended. */
import type { ChallengeNonce } from '@svc-zerc20/protocol'
import type { InterruptedWork } from '../../payment/ledger-port.js'
import type { Interrupted, InterruptedMint, ShallowBurns, SignedTransaction } from '../../payment/records.js'
import type { LedgerState } from './state.js'

/** A burn that several transactions carried belongs to the newest of them: the older ones were displaced. */
export function interruptedIn(state: LedgerState): InterruptedWork {
  const carrier = new Map<ChallengeNonce, number>()
  const forms = new Map<number, SignedTransaction[]>()
  for (const { transaction, nonces } of state.outstanding()) {
    forms.set(transaction.txNonce, [...(forms.get(transaction.txNonce) ?? []), transaction])
    for (const nonce of nonces) carrier.set(nonce, Math.max(transaction.txNonce, carrier.get(nonce) ?? 0))
  }
  const underWay: Interrupted['items'][number][] = []
  const transfers: InterruptedWork['transfers'][number][] = []
  for (const { challenge, claim, accepted } of state.live()) {
    if (!claim?.payload || accepted) continue
    const { payload } = claim
    if (payload.kind === 'permit') underWay.push({ challenge, payload: payload.read() })
    else transfers.push({ challenge, payload: payload.read() })
  }
  const shallow = shallowIn(state)
  return {
    transactions: [...forms].map(([txNonce, transactions]) => ({
      transactions,
      items: underWay.filter(({ challenge }) => carrier.get(challenge.nonce) === txNonce),
      accepted: shallow.get(txNonce)?.items ?? [],
    })),
    shallow: [...shallow].filter(([txNonce]) => !forms.has(txNonce)).map(([, burns]) => burns),
    unsigned: underWay.filter(({ challenge }) => !carrier.has(challenge.nonce)),
    transfers,
    mints: interruptedMintsIn(state),
  }
}

/** Accepted burns that are not deep yet, by the txNonce of the transaction that holds them. */
function shallowIn(state: LedgerState): Map<number, ShallowBurns> {
  const byTxNonce = new Map<number, ShallowBurns>()
  for (const { transaction, nonces } of state.shallow()) {
    const items: Interrupted['items'][number][] = []
    let block: ShallowBurns['block'] | undefined
    for (const nonce of nonces) {
      const { challenge, claim, accepted } = state.find(nonce) ?? {}
      if (!challenge || !accepted || claim?.payload?.kind !== 'permit') continue
      items.push({ challenge, payload: claim.payload.read() })
      block = accepted.burn
    }
    const { transactions = [] } = byTxNonce.get(transaction.txNonce) ?? {}
    if (block)
      byTxNonce.set(transaction.txNonce, { transactions: [...transactions, transaction], items, block })
  }
  return byTxNonce
}

/** Signed transactions of one account with one txNonce are forms of one transaction. */
function interruptedMintsIn(state: LedgerState): InterruptedMint[] {
  const bySlot = new Map<string, { transactions: SignedTransaction[]; nonces: Set<ChallengeNonce> }>()
  for (const { transaction, nonces } of state.outstandingMints()) {
    const slot = `${transaction.from ?? ''}/${transaction.txNonce}`
    const known = bySlot.get(slot) ?? { transactions: [], nonces: new Set() }
    known.transactions.push(transaction)
    for (const nonce of nonces) known.nonces.add(nonce)
    bySlot.set(slot, known)
  }
  const txNonceOf = ({ transactions }: { transactions: SignedTransaction[] }) => transactions[0]?.txNonce ?? 0
  return [...bySlot.values()]
    .sort((a, b) => txNonceOf(a) - txNonceOf(b))
    .map(({ transactions, nonces }) => ({ transactions, nonces: [...nonces] }))
}
