/** How far a payment is on its way from burn to mint, as the devnet tells it to its pages. */

export const stepNames = ['offer', 'burn', 'root', 'proof', 'mint'] as const
export type StepName = (typeof stepNames)[number]

export type Step = {
  readonly state: 'done' | 'now' | 'ahead'
  /** When it was done, in seconds of the epoch. */
  readonly at?: number
  readonly transaction?: string
}

export type Journey = {
  readonly challengeNonce: string
  /** In tokens, with the symbol. */
  readonly amount: string
  readonly payTo: string
  readonly payer?: string
  readonly seller?: string
  /** Transfers under the newest proved root. */
  readonly transfers?: number
  readonly steps: Readonly<Record<StepName, Step>>
}
