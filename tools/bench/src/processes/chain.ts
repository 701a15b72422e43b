/** The embedded chain in its own process, so that it competes with all contestants alike. */
import { startChain } from '@svc-zerc20/devnet'
import { announceReady } from './child.js'

export type ChainReady = { readonly rpcUrl: string }

const chain = await startChain({
  mining: { mode: 'interval', intervalMs: Number(process.env.BLOCK_MS) },
})
announceReady({ rpcUrl: chain.rpcUrl } satisfies ChainReady)
