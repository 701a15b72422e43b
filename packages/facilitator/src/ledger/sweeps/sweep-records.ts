/** Fees that are due, and the sweeps that take them. */
import { createSerial, SvcError } from '@svc-zerc20/protocol'
import type { OpenSweep, SignedTransaction, Sweep } from '../../payment/records.js'
import { dueFeeOf } from '../../payment/sweep/due.js'
import type { FeeLedger } from '../../payment/sweep/ports.js'
import type { LedgerCore } from '../core.js'

/** Payments that are unpacked in one go. There may be very many, and requests must not wait for all of them. */
const feesAtOnce = 256

export function createSweepRecords(core: LedgerCore): FeeLedger {
  const { state } = core
  /** Two sweeps that are signed at the same moment must not take the same fee. */
  const oneByOne = createSerial()
  return {
    async *feesDue() {
      let unpacked = 0
      for (const payment of state.withDueFee()) {
        unpacked += 1
        if (unpacked % feesAtOnce === 0) await new Promise((resolve) => setImmediate(resolve))
        const due = dueFeeOf(payment)
        if (due && !state.sweeps.isUnderWay(due.nonce)) yield due
      }
    },

    recordSweepSigned: (sweep, transaction) =>
      oneByOne(async () => {
        const open = state.sweeps.open().find((other) => txNonceOf(other) === transaction.txNonce)
        if (open) assertSame(open, sweep)
        else assertDue(core, sweep)
        const { recipient, amount, nonces } = sweep
        await core.journalled({ event: 'sweep_signed', recipient, amount, nonces, transaction })
      }),

    async endSweep(sweep, end) {
      const txNonce = txNonceOf(sweep)
      if (!state.sweeps.open().some((open) => txNonceOf(open) === txNonce)) return
      const { txHash, blockNumber } = end.kind === 'done' ? end : {}
      const hash = txHash !== undefined && blockNumber !== undefined && { txHash, blockNumber }
      await core.journalled({ event: 'sweep_ended', txNonce, at: core.nowSeconds(), ...hash })
    },

    recordSweepFound: ({ recipient, nonces }, { value: amount, txHash, blockNumber }) =>
      oneByOne(() => {
        const at = core.nowSeconds()
        return core.journalled({ event: 'sweep_found', recipient, amount, nonces, txHash, blockNumber, at })
      }),

    openSweeps: async () => state.sweeps.open(),
    swept: async () => state.sweeps.swept(),

    recordDistributionSigned: (transaction) => core.journalled({ event: 'distribution_signed', transaction }),

    async endDistribution(txNonce) {
      const isOpen = state.distributions.open().some(([first]) => first?.txNonce === txNonce)
      if (isOpen) await core.journalled({ event: 'distribution_ended', txNonce })
    },

    openDistributions: async () => state.distributions.open(),
  }
}

function txNonceOf({ transactions }: OpenSweep): SignedTransaction['txNonce'] {
  const [first] = transactions
  if (!first) throw new SvcError('invariant', 'a sweep without a signed transaction')
  return first.txNonce
}

/** A replacement at a higher fee sends the same money to the same recipient. */
function assertSame(open: OpenSweep, { recipient, amount, nonces }: Sweep): void {
  const isSame =
    open.recipient === recipient && open.amount === amount && open.nonces.join() === nonces.join()
  if (!isSame) throw new SvcError('invariant', 'a sweep was signed anew with other fees')
}

/** Checked once more before anything can be sent: a mistake here would send the provider's money. */
function assertDue({ state }: LedgerCore, { recipient, amount, nonces }: Sweep): void {
  let sum = 0n
  for (const nonce of new Set(nonces)) {
    const payment = state.find(nonce)
    const due = payment && !state.sweeps.isUnderWay(nonce) && dueFeeOf(payment)
    if (!due || due.recipient !== recipient) {
      throw new SvcError('invariant', `the fee of ${nonce} is not due to ${recipient}`)
    }
    sum += due.amount
  }
  if (sum !== amount || sum === 0n) {
    throw new SvcError('invariant', `a sweep of ${amount} for fees of ${sum}`)
  }
}
