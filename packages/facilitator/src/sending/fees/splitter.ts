/**
 * Distributes the balance of the splitter with the relayer's key when it is worth the gas. Anybody may do so at any time:
 * the call takes no argument, and one that comes too late finds nothing to distribute. So a failure is harmless, and after
 * a crash the next round looks at the balance again.
 */
import { feeSplitterAbi } from '@svc-zerc20/contracts'
import type { JsonRpc } from '@svc-zerc20/evm'
import {
  type Address,
  type BaseUnits,
  backOffMs,
  type Clock,
  SvcError,
  type TxHash,
} from '@svc-zerc20/protocol'
import { encodeFunctionData } from 'viem/utils'
import { readBalance } from '../../chain/lens.js'
import { tryCall } from '../../chain/try-call.js'
import type { Report } from '../../payment/report.js'
import type { SplitterView } from '../../payment/sweep/control.js'
import type { Relayer } from '../relayer/relayer.js'
import type { RelayedCall } from '../relayer/slot.js'

export type Splitter = ReturnType<typeof createSplitter>

export type SplitterDeps = {
  readonly rpc: Pick<JsonRpc, 'batch'>
  readonly relayer: Pick<Relayer, 'address' | 'submit'>
  readonly token: Address
  readonly splitter: Address
  /** The ledger must know every txNonce of the relayer, and no more of this transaction. */
  readonly recordSigned: RelayedCall['recordSigned']
  readonly clock: Pick<Clock, 'now'>
  readonly minAmount: bigint
  /** The pause between two distributions. A start need not wait for it. */
  readonly intervalMs: number
  readonly retryMs: { readonly first: number; readonly max: number }
  readonly report: Report
  readonly limits: { readonly distributionGas: bigint }
}

export function createSplitter(deps: SplitterDeps) {
  const { clock, report } = deps
  const distribute = createDistribute(deps)
  let view: SplitterView = {}
  let isRunning = false
  let nextAtMs = 0
  let failures = 0
  const nowSeconds = () => Math.floor(clock.now() / 1000)

  async function run(amount: BaseUnits): Promise<void> {
    const txHash = await distribute()
    failures = 0
    nextAtMs = clock.now() + deps.intervalMs
    view = { undistributed: 0n as BaseUnits, last: { txHash, amount, at: nowSeconds() } }
    report({ event: 'fees.distributed', txHash, amount })
  }

  function fail(err: unknown): void {
    failures += 1
    nextAtMs = clock.now() + backOffMs(failures, deps.retryMs.first, deps.retryMs.max)
    const message = err instanceof Error ? err.message : String(err)
    view = { ...view, lastFailure: { message, at: nowSeconds() } }
    report({ event: 'fees.distribute_failed', err })
  }

  return {
    /** Looks at the balance, and distributes it when it is due. Does not wait for the transaction. */
    async round(): Promise<void> {
      if (isRunning || clock.now() < nextAtMs) return
      isRunning = true
      const end = () => {
        isRunning = false
      }
      try {
        const undistributed = await readBalance(deps.rpc, deps.token, deps.splitter)
        view = { ...view, undistributed }
        if (undistributed > 0n && undistributed >= deps.minAmount)
          void run(undistributed).catch(fail).finally(end)
        else end()
      } catch (err) {
        end()
        fail(err)
      }
    },
    view: () => view,
  }
}

function createDistribute({ rpc, relayer, splitter, recordSigned, limits }: SplitterDeps) {
  const call = {
    to: splitter,
    data: encodeFunctionData({ abi: feeSplitterAbi, functionName: 'distribute' }),
    gas: limits.distributionGas,
  }
  /** Resolves when the distribution is mined; throws when it did not happen. */
  return async (): Promise<TxHash> => {
    const reverted = await tryCall(rpc, { from: relayer.address, ...call })
    if (reverted) throw reverted
    const end = await relayer.submit({ purpose: 'distribution', recordSigned, ...call })
    if (end.kind === 'mined' && end.receipt.succeeded) return end.receipt.transactionHash
    const why = end.kind === 'mined' ? 'was mined and did nothing' : `was displaced (${end.why})`
    throw new SvcError('distribution_failed', `the distribution of ${splitter} ${why}`)
  }
}
