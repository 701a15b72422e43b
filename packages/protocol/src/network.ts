/** CAIP-2 network identifiers of the eip155 family. */
export type Network = `eip155:${number}`

/** Of a chain on one's own machine. */
export const localChainId = 31337

const pattern = /^eip155:([1-9]\d{0,15})$/

export function format(chainId: number): Network {
  return `eip155:${chainId}`
}

/** The chain id of an `eip155:<chainId>` identifier, or undefined for anything else. */
export function parseChainId(network: unknown): number | undefined {
  const digits = typeof network === 'string' ? pattern.exec(network)?.[1] : undefined
  const chainId = digits === undefined ? undefined : Number(digits)
  return chainId !== undefined && Number.isSafeInteger(chainId) ? chainId : undefined
}
