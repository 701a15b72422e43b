/** How a facilitator turns accepted burns into mints: one by one, or epoch by epoch. */
import type { Mint } from '../chain-view.js'

export type AcceptedBurn = {
  readonly leaf: number
  readonly from: string
  readonly value: bigint
  readonly offeredAt: number
  /** When it was accepted. */
  readonly now: number
}

export type SimulatedMint = Pick<Mint, 'value' | 'rootSize' | 'range'> & { readonly burns: readonly number[] }

export type Facilitator = {
  accept(burn: AcceptedBurn): void
  /** The mints of one block. `rootSize`: leaves under the newest proved root. */
  mint(now: number, rootSize: number): readonly SimulatedMint[]
}
