/**
 * Distributes the balance of the splitter with the relayer's key. Anybody may do so at any time: the call takes no
 * argument, and one that comes too late finds nothing to distribute.
 */
import { feeSplitterAbi, tokenAbi } from '@svc-zerc20/contracts'
import { type JsonRpc, resultOf } from '@svc-zerc20/evm'
import { type Address, type BaseUnits, SvcError, type TxHash } from '@svc-zerc20/protocol'
import { encodeFunctionData } from 'viem/utils'
import { tryCall } from '../../chain/try-call.js'
import type { SignedTransaction } from '../../payment/records.js'
import type { FeeLedger, Splitter, SweepEvent } from '../../payment/sweep/ports.js'
import type { RelayEnd, Relayer } from '../relayer/relayer.js'

export function createSplitter(deps: {
  readonly rpc: Pick<JsonRpc, 'batch'>
  readonly relayer: Pick<Relayer, 'address' | 'submit' | 'resume'>
  readonly token: Address
  readonly splitter: Address
  readonly ledger: Pick<FeeLedger, 'recordDistributionSigned' | 'endDistribution' | 'openDistributions'>
  readonly report: (event: SweepEvent) => void
  readonly limits: { readonly distributionGas: bigint }
}): Splitter {
  const { rpc, relayer, token, splitter, ledger } = deps
  const call = {
    to: splitter,
    data: encodeFunctionData({ abi: feeSplitterAbi, functionName: 'distribute' }),
    gas: deps.limits.distributionGas,
  }
  const balanceOf = encodeFunctionData({ abi: tokenAbi, functionName: 'balanceOf', args: [splitter] })
  const owner = {
    purpose: 'distribution' as const,
    // The journal must know every transaction of the relayer.
    recordSigned: (transaction: SignedTransaction) => ledger.recordDistributionSigned(transaction),
  }

  async function conclude(end: RelayEnd, txNonce: number | undefined): Promise<{ txHash: TxHash }> {
    if (txNonce !== undefined) await ledger.endDistribution(txNonce)
    if (end.kind === 'mined' && end.receipt.succeeded) return { txHash: end.receipt.transactionHash }
    const why = end.kind === 'mined' ? 'was mined and did nothing' : `was displaced (${end.why})`
    throw new SvcError('distribution_failed', `the distribution of ${splitter} ${why}`)
  }

  return {
    async undistributed() {
      const params = [{ to: token, data: balanceOf }, 'latest']
      const [answer] = await rpc.batch([{ method: 'eth_call', params }])
      return BigInt(resultOf('eth_call', answer) as string) as BaseUnits
    },

    async distribute() {
      const reverted = await tryCall(rpc, { from: relayer.address, ...call })
      if (reverted) throw reverted.err
      let txNonce: number | undefined
      const end = await relayer.submit({
        ...owner,
        ...call,
        async recordSigned(transaction) {
          await owner.recordSigned(transaction)
          txNonce = transaction.txNonce
        },
      })
      return conclude(end, txNonce)
    },

    async resume() {
      for (const forms of await ledger.openDistributions()) {
        // However it ends, the balance tells what is left to distribute.
        void relayer
          .resume({ ...owner, forms })
          .then((end) => conclude(end, forms[0]?.txNonce))
          .catch((err) => deps.report({ event: 'fees.distribute_failed', err }))
      }
    },
  }
}
