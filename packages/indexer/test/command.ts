import { fileURLToPath } from 'node:url'
import type { World } from './world.js'

/** The script and the options of an indexer that follows the world's token, on a free port. */
export function indexerCommand({ chain, deployment, folder }: World): readonly string[] {
  const { chainId, token, verifier, fromBlock } = deployment
  const script = fileURLToPath(new URL('../bin/svc-indexer.mjs', import.meta.url))
  const flags = { 'rpc-url': chain.rpcUrl, 'chain-id': chainId, token, verifier, folder }
  const args = Object.entries({ ...flags, 'from-block': fromBlock, listen: '127.0.0.1:0', 'poll-ms': 5 })
  return [script, ...args.flatMap(([name, value]) => [`--${name}`, `${value}`])]
}
