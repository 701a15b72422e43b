/** Who is compared, on one chain: our daemon as it ships, and the official packages, tuned. */
import { developmentRoles, spareAccounts, startLocalNetwork } from '@svc-zerc20/devnet'
import type { Address } from 'viem'
import type { ChainView } from '../inputs/chain-view.js'
import { fundPayers, referenceToken } from '../inputs/funding.js'
import {
  createExactPayments,
  createPayers,
  createPermitPayments,
  type MakePayments,
} from '../inputs/payments.js'
import { startChild } from '../processes/child.js'
import type { ReferenceReady } from '../processes/reference.js'

export type Facilitator = {
  readonly name: 'svc-zerc20' | 'reference'
  readonly url: string
  readonly pid: number
  readonly relayer: Address
  readonly token: Address
  readonly makePayments: MakePayments
}

/** Ends one part of the run. */
export type Closer = () => Promise<void>

/**
 * Addresses without proof of work, and enough of them that none is mined during a measurement: that is work ahead of
 * requests, and both would share the cores.
 */
const ourConfig = {
  zerc20: { pool_size: 1200 },
  settlement: { challenge_ttl_seconds: 3600 },
  daemon: { max_open_challenges: 100_000 },
}

export async function startFacilitators(options: {
  rpcUrl: string
  chain: ChainView
  payerCount: number
  now: () => number
  closers: Closer[]
}): Promise<readonly [ours: Facilitator, reference: Facilitator]> {
  const { rpcUrl, chain, closers } = options
  const network = await startLocalNetwork({ rpcUrl, config: ourConfig, powBits: 0 })
  closers.push(() => network.close())
  const { deployment, facilitatorUrl } = network
  const payers = createPayers(options.payerCount)
  const addresses = payers.map(({ address }) => address)
  const funded = await fundPayers({ chain, token: deployment.token, payers: addresses })

  const [account] = spareAccounts
  if (!account) throw new Error('no account left for the reference')
  const child = await startChild<ReferenceReady>({
    module: 'reference',
    env: { RPC_URL: rpcUrl, CHAIN_ID: `${deployment.chainId}`, PRIVATE_KEY: account.privateKey },
  })
  closers.push(() => child.stop())
  return [
    {
      name: 'svc-zerc20',
      url: facilitatorUrl,
      pid: network.pids.facilitator ?? 0,
      relayer: developmentRoles.relayer.address,
      token: deployment.token,
      makePayments: createPermitPayments({ facilitatorUrl, chain, deployment, payers }),
    },
    {
      name: 'reference',
      url: child.ready.url,
      pid: child.pid,
      relayer: account.address,
      token: funded.referenceToken,
      makePayments: createExactPayments({
        chainId: deployment.chainId,
        token: funded.referenceToken,
        tokenName: referenceToken.name,
        tokenVersion: referenceToken.version,
        payTo: developmentRoles.provider.address,
        payers,
        now: options.now,
      }),
    },
  ]
}
