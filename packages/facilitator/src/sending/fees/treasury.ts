/**
 * Sends sweeps with the treasury's own key. Nothing on the chain keeps a transfer of tokens from happening twice, so the
 * txNonce has to: a sweep ends only when its txNonce is used, as deep as a mint must be.
 */
import { tokenAbi } from '@svc-zerc20/contracts'
import { type JsonRpc, quantityOf, readHead } from '@svc-zerc20/evm'
import { type Address, type Clock, SvcError } from '@svc-zerc20/protocol'
import type { Hex } from 'viem'
import { encodeFunctionData, toHex } from 'viem/utils'
import { readBalance } from '../../chain/lens.js'
import { tryCall } from '../../chain/try-call.js'
import type { OpenSweep, SignedTransaction, Sweep } from '../../payment/records.js'
import type { FeeLedger, SweepOutcome, SweepSender } from '../../payment/sweep/ports.js'
import type { Relayer } from '../relayer/relayer.js'
import type { RelayEnd } from '../relayer/slot.js'

export function createTreasurySender(deps: {
  readonly rpc: Pick<JsonRpc, 'batch'>
  /** The relayer of the treasury's key. Its confirmations are those of a mint. */
  readonly relayer: Pick<Relayer, 'address' | 'submit' | 'resume'>
  readonly token: Address
  readonly ledger: Pick<FeeLedger, 'recordSweepSigned'>
  readonly confirmations: number
  readonly clock: Pick<Clock, 'sleep'>
  readonly limits: { readonly sweepGas: bigint; readonly displacedPollMs: number }
}): SweepSender {
  const { rpc, relayer, token, ledger, clock, limits } = deps

  /** Why the transfer cannot be sent now. */
  async function refusal({ amount }: Sweep, data: Hex): Promise<SweepOutcome | undefined> {
    if ((await readBalance(rpc, token, relayer.address)) < amount)
      return { kind: 'failed', why: 'treasury_short' }
    const call = { from: relayer.address, to: token, data, gas: limits.sweepGas }
    const err = await tryCall(rpc, call)
    return err && { kind: 'failed', why: 'would_revert', err }
  }

  /** Whether the txNonce is used in a block as deep as a mint must be. */
  async function isUsedDeep(txNonce: number): Promise<boolean> {
    const head = await readHead(rpc)
    const deep = head - BigInt(deps.confirmations - 1)
    if (deep < 0n) return false
    const method = 'eth_getTransactionCount'
    const [answer] = await rpc.batch([{ method, params: [relayer.address, toHex(deep)] }])
    return quantityOf(method, answer) > BigInt(txNonce)
  }

  const ownerFor = (sweep: Sweep, versions: SignedTransaction[], onSigned?: (hash: Hex) => void) => ({
    purpose: 'sweep' as const,
    async recordSigned(transaction: SignedTransaction) {
      await ledger.recordSweepSigned(sweep, transaction)
      versions.push(transaction)
      onSigned?.(transaction.hash)
    },
  })

  /**
   * The outcome of an end. A foreign transaction that used the txNonce may be undone by a reorg, and then the sweep could
   * still be mined. It counts as displaced only when the other transaction is deep, and is watched until then.
   */
  async function outcomeOf(
    first: RelayEnd,
    sweep: Sweep,
    versions: SignedTransaction[],
  ): Promise<SweepOutcome> {
    for (
      let end = first;
      ;
      end = await relayer.resume({ ...ownerFor(sweep, versions), versions: [...versions] })
    ) {
      if (end.kind === 'mined') {
        const { succeeded, transactionHash: txHash, blockNumber } = end.receipt
        return succeeded ? { kind: 'done', txHash, blockNumber } : { kind: 'failed', why: 'reverted' }
      }
      const txNonce = versions.at(-1)?.txNonce
      if (txNonce === undefined) throw new SvcError('invariant', 'a sweep ended before it was signed')
      if (end.why === 'refused' || (await isUsedDeep(txNonce))) return { kind: 'failed', why: 'displaced' }
      await clock.sleep(limits.displacedPollMs)
    }
  }

  return {
    async send(sweep, onSigned) {
      const versions: SignedTransaction[] = []
      const { recipient, amount } = sweep
      const data = encodeFunctionData({ abi: tokenAbi, functionName: 'transfer', args: [recipient, amount] })
      try {
        const refused = await refusal(sweep, data)
        if (refused) return refused
        const owner = ownerFor(sweep, versions, onSigned as (hash: Hex) => void)
        const end = await relayer.submit({ ...owner, to: token, data, gas: limits.sweepGas })
        return await outcomeOf(end, sweep, versions)
      } catch (err) {
        const isUnfunded = err instanceof SvcError && err.code === 'relayer_unfunded'
        return { kind: 'failed', why: isUnfunded ? 'unfunded' : 'unavailable', err }
      }
    },

    async resume({ transactions, ...sweep }: OpenSweep) {
      const versions = [...transactions]
      const end = await relayer.resume({ ...ownerFor(sweep, versions), versions: [...versions] })
      return outcomeOf(end, sweep, versions)
    },
  }
}
