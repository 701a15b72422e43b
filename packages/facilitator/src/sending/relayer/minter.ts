/** Sends mints through the queue of their account: tried against the chain first, recorded before they are seen. */
import type { JsonRpc } from '@svc-zerc20/evm'
import { type ChallengeNonce, SvcError } from '@svc-zerc20/protocol'
import { tryCall } from '../../chain/try-call.js'
import type { Ledger } from '../../payment/ledger-port.js'
import type { MintCall, Minter, MintOutcome } from '../../payment/ports.js'
import type { SignedTransaction } from '../../payment/records.js'
import type { MintSender } from './mint-sender.js'
import type { RelayEnd } from './slot.js'

export function createMinter(deps: {
  rpc: Pick<JsonRpc, 'batch'>
  sender: MintSender
  recordSigned: Ledger['recordMintSigned']
}): Minter {
  const { rpc, sender } = deps
  /** Two transactions of earlier runs may be for one payment. */
  const underWay = new Map<ChallengeNonce, Set<Promise<MintOutcome>>>()

  /** Ends the tracking before the outcome is told, so that a caller that hears of it may try again. */
  function track(nonces: readonly ChallengeNonce[], running: Promise<MintOutcome>): Promise<MintOutcome> {
    const outcome = running.finally(() => {
      for (const nonce of nonces) {
        const rest = underWay.get(nonce)
        rest?.delete(outcome)
        if (rest?.size === 0) underWay.delete(nonce)
      }
    })
    for (const nonce of nonces) underWay.set(nonce, (underWay.get(nonce) ?? new Set()).add(outcome))
    return outcome
  }

  const ownerFor = (nonces: readonly ChallengeNonce[]) => ({
    purpose: 'mint' as const,
    recordSigned: (transaction: SignedTransaction) => deps.recordSigned(transaction, nonces),
    // The relayer sends the mint again. Until that ends, another mint would only revert.
    onReorged: (ended: Promise<RelayEnd>) => void track(nonces, ended.then(toOutcome)),
  })

  async function run(call: MintCall): Promise<MintOutcome> {
    const { to, data, gas, nonces } = call
    try {
      const err = await tryCall(rpc, { from: sender.address, to, data, gas })
      if (err) return { kind: 'failed', why: 'would_revert', err }
      const end = await sender.submit({ ...ownerFor(nonces), to, data, gas })
      return toOutcome(end)
    } catch (err) {
      // The relayer throws only before it has signed and recorded, so nothing was sent.
      const isUnfunded = err instanceof SvcError && err.code === 'relayer_unfunded'
      return { kind: 'failed', why: isUnfunded ? 'unfunded' : 'unavailable', err }
    }
  }

  function toOutcome(end: RelayEnd): MintOutcome {
    if (end.kind === 'displaced') return { kind: 'failed', why: 'displaced' }
    const { transactionHash: txHash, succeeded } = end.receipt
    return succeeded ? { kind: 'mined', txHash } : { kind: 'failed', why: 'reverted', txHash }
  }

  return {
    async mint(call) {
      const earlier = call.nonces.flatMap((nonce) => [...(underWay.get(nonce) ?? [])])
      const [first] = earlier
      if (!first) return track(call.nonces, run(call))
      // A mined mint is the answer, whatever became of the others.
      const outcomes = await Promise.all(earlier)
      return outcomes.find(({ kind }) => kind === 'mined') ?? first
    },

    resume({ transactions, nonces }) {
      return track(nonces, sender.resume({ ...ownerFor(nonces), versions: transactions }).then(toOutcome))
    },

    isUnderWay: (nonce) => underWay.has(nonce),
  }
}
