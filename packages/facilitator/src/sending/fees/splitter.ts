/**
 * Distributes the balance of the splitter with the relayer's key when it is worth the gas. Anybody may do so at any time:
 * the call takes no argument, and one that comes too late finds nothing to distribute. So a failure is harmless.
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
import type { SignedTransaction } from '../../payment/records.js'
import type { Report } from '../../payment/report.js'
import type { SplitterView } from '../../payment/sweep/control.js'
import type { FeeLedger } from '../../payment/sweep/ports.js'
import type { Relayer } from '../relayer/relayer.js'
import type { RelayEnd } from '../relayer/slot.js'

export type Splitter = ReturnType<typeof createSplitter>

export type SplitterDeps = {
  readonly rpc: Pick<JsonRpc, 'batch'>
  readonly relayer: Pick<Relayer, 'address' | 'submit' | 'resume'>
  readonly token: Address
  readonly splitter: Address
  readonly ledger: Pick<FeeLedger, 'recordDistributionSigned' | 'endDistribution' | 'openDistributions'>
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
  const { distribute, resume } = createDistribute(deps)
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
    resume,
  }
}

function createDistribute({ rpc, relayer, splitter, ledger, report, limits }: SplitterDeps) {
  const call = {
    to: splitter,
    data: encodeFunctionData({ abi: feeSplitterAbi, functionName: 'distribute' }),
    gas: limits.distributionGas,
  }
  const owner = {
    purpose: 'distribution' as const,
    // The ledger must know every transaction of the relayer.
    recordSigned: (transaction: SignedTransaction) => ledger.recordDistributionSigned(transaction),
  }

  async function conclude(end: RelayEnd, signed: SignedTransaction | undefined): Promise<TxHash> {
    if (signed) await ledger.endDistribution(signed)
    if (end.kind === 'mined' && end.receipt.succeeded) return end.receipt.transactionHash
    const why = end.kind === 'mined' ? 'was mined and did nothing' : `was displaced (${end.why})`
    throw new SvcError('distribution_failed', `the distribution of ${splitter} ${why}`)
  }

  return {
    /** Resolves when the distribution is mined; throws when it did not happen. */
    async distribute(): Promise<TxHash> {
      const reverted = await tryCall(rpc, { from: relayer.address, ...call })
      if (reverted) throw reverted
      let signed: SignedTransaction | undefined
      const end = await relayer.submit({
        ...owner,
        ...call,
        async recordSigned(transaction) {
          await owner.recordSigned(transaction)
          signed = transaction
        },
      })
      return conclude(end, signed)
    },

    /** Goes on with distributions that an earlier run signed, before the relayer assigns new txNonces. */
    async resume(): Promise<void> {
      for (const forms of await ledger.openDistributions(relayer.address)) {
        // However it ends, the balance tells what is left to distribute.
        void relayer
          .resume({ ...owner, forms })
          .then((end) => conclude(end, forms[0]))
          .catch((err) => report({ event: 'fees.distribute_failed', err }))
      }
    },
  }
}
