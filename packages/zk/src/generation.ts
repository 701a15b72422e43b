/**
 * The two incompatible formula sets of zERC20. An address of the wrong generation can never be minted from,
 * so the generation is always an explicit setting and never guessed.
 */
export type Generation = 1 | 2

/** Proof-of-work bits that upstream deployments of a generation demand. */
export const upstreamPowBits: Record<Generation, number> = { 1: 12, 2: 16 }
