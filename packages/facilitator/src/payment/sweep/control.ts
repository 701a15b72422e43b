/** The operator's view of the fees, and requests about them. */
import type { Address, BaseUnits, TokenLabel, TxHash } from '@svc-zerc20/protocol'
import type { Swept } from '../records.js'
import type { SweepTerms } from './plan.js'
import type { SweepAnswer, SweepView } from './sweeper.js'

export type SplitterView = {
  /** As last seen; undefined before the first look. */
  readonly undistributed?: BaseUnits
  readonly last?: { readonly txHash: TxHash; readonly amount: BaseUnits; readonly at: number }
  readonly lastFailure?: { readonly message: string; readonly at: number }
}

export type FeesView = SweepView & {
  /** How fees of new payments reach the facilitator. Fees of older payments are swept in any mode. */
  readonly mode: 'none' | 'custodial' | 'split'
  readonly terms: SweepTerms
  readonly swept: Swept
  /** Wei of the account that sweeps; undefined where it sweeps nothing, or while the chain is out of reach. */
  readonly treasuryWei?: bigint
  /** Symbol and decimals, as the token tells them. */
  readonly token?: TokenLabel
  readonly splitter?: SplitterView & { readonly address: Address }
}

export type FeeControl = {
  view(): Promise<FeesView>
  sweepNow(options: { readonly isDryRun: boolean }): Promise<SweepAnswer>
}
