/** The embedded chain as a process of its own, so that it competes with everyone alike. */
import { startChain } from '@svc-zerc20/devnet'
import { announceReady } from './child.js'

export type ChainReady = { readonly rpcUrl: string }

const chain = await startChain({
  mining: { mode: 'interval', intervalMs: Number(process.env.BLOCK_MS) },
})
announceReady({ rpcUrl: chain.rpcUrl } satisfies ChainReady)
