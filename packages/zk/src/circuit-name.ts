/** Levels that the hub's tree of token roots adds above a token's. */
export const hubHeight = 6

/** Circuits whose keys every folder of artifacts has. */
export const neededCircuits = ['withdraw-local', 'withdraw-global', 'root-16', 'root-64'] as const

export type NeededCircuit = (typeof neededCircuits)[number]

/** The circuit of batch mints. Its keys are large, so development keys of it are made only where batches are minted. */
export const batchCircuit = 'batch-withdraw'

/** Every circuit that a proof can be made for. */
export const circuitNames = [...neededCircuits, batchCircuit] as const

export type CircuitName = (typeof circuitNames)[number]

/** Most transfers that one root proof can append, by circuit. */
export const rootBatches = { 'root-16': 16, 'root-64': 64 } as const

export type RootCircuit = keyof typeof rootBatches
