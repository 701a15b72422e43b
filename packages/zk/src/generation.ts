/**
 * The two incompatible sets of formulas of zERC20. A burn to an address of the wrong generation can never be minted, so
 * the generation is always an explicit setting.
 */
export type Generation = 1 | 2

/** Proof-of-work bits that zERC20's own deployments of a generation demand. */
export const upstreamPowBits: Record<Generation, number> = { 1: 12, 2: 16 }
