/** The three facilitators on one chain, each with its own process and key. */
import { fileURLToPath } from 'node:url'
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
import type { ShopReady } from '../processes/exact-shop.js'
import type { ReferenceReady, Wiring } from '../processes/reference.js'
import { type Buyer, officialClient, svcPay } from './buyers.js'
import { type JournalCounts, readChallengeTimes, readJournalCounts, readRecovered } from './own-figures.js'

export type ContestantName = 'ours' | 'example' | 'tuned'

export type Contestant = {
  readonly name: ContestantName
  readonly url: string
  readonly pid: number
  readonly relayer: Address
  readonly token: Address
  readonly makePayments: MakePayments
  /** Present for a contestant with a journal. */
  readonly journal?: () => Promise<JournalCounts>
  readonly journalFolder?: string
  /** Present for a contestant that makes challenges. */
  readonly challengeTimes?: () => Promise<ReadonlyMap<number, number>>
  /** Signatures so far whose signer was computed. Present for a contestant that counts them. */
  readonly recovered?: () => Promise<number>
}

export type Closer = () => Promise<void>

const shopScript = fileURLToPath(new URL('../../../../examples/dist/shop.js', import.meta.url))

/**
 * Addresses without proof of work, and a pool that stays above its low-water mark while challenges are measured. Both belong
 * to background work, which must not run during a measurement.
 */
const ourConfig = {
  zerc20: { pool_size: 1200 },
  settlement: { challenge_ttl_seconds: 3600 },
  daemon: { max_open_challenges: 100_000 },
}

export async function startContestants(options: {
  rpcUrl: string
  chain: ChainView
  blockMs: number
  payerCount: number
  now: () => number
  closers: Closer[]
}): Promise<{
  readonly contestants: Readonly<Record<ContestantName, Contestant>>
  readonly buyers: { readonly svcPay: Buyer; readonly official: Buyer }
}> {
  const { rpcUrl, chain, closers } = options
  const network = await startLocalNetwork({ rpcUrl, config: ourConfig, powBits: 0, shopScript })
  closers.push(() => network.close())
  const { deployment } = network
  const payers = createPayers(options.payerCount)
  const funded = await fundPayers({
    chain,
    token: deployment.token,
    payers: [...payers.map(({ address }) => address), developmentRoles.payer.address],
  })
  const ours: Contestant = {
    name: 'ours',
    url: network.facilitatorUrl,
    pid: network.pids.facilitator ?? 0,
    relayer: developmentRoles.relayer.address,
    token: deployment.token,
    journal: () => readJournalCounts(network.facilitatorUrl, network.adminToken),
    journalFolder: network.directory,
    challengeTimes: () => readChallengeTimes(network.facilitatorUrl, network.adminToken),
    recovered: () => readRecovered(network.facilitatorUrl, network.adminToken),
    makePayments: createPermitPayments({
      facilitatorUrl: network.facilitatorUrl,
      chain,
      deployment,
      payers,
    }),
  }

  const exactPayments = createExactPayments({
    chainId: deployment.chainId,
    token: funded.referenceToken,
    tokenName: referenceToken.name,
    tokenVersion: referenceToken.version,
    payTo: developmentRoles.provider.address,
    payers,
    now: options.now,
  })
  async function startReference(
    wiring: Wiring,
    account: (typeof spareAccounts)[number] | undefined,
  ): Promise<Contestant> {
    if (!account) throw new Error('no account left for the reference facilitator')
    const child = await startChild<ReferenceReady>({
      module: 'reference',
      env: {
        RPC_URL: rpcUrl,
        CHAIN_ID: `${deployment.chainId}`,
        PRIVATE_KEY: account.privateKey,
        BLOCK_MS: `${options.blockMs}`,
        WIRING: wiring,
      },
    })
    closers.push(() => child.stop())
    return {
      name: wiring,
      url: child.ready.url,
      pid: child.pid,
      relayer: account.address,
      token: funded.referenceToken,
      makePayments: exactPayments,
    }
  }
  const [forExample, forTuned] = spareAccounts
  const contestants = {
    ours,
    example: await startReference('example', forExample),
    tuned: await startReference('tuned', forTuned),
  }
  const shop = await startChild<ShopReady>({
    module: 'exact-shop',
    env: {
      FACILITATOR_URL: contestants.tuned.url,
      NETWORK: `eip155:${deployment.chainId}`,
      TOKEN: funded.referenceToken,
      NAME: referenceToken.name,
      VERSION: referenceToken.version,
      PAY_TO: developmentRoles.provider.address,
    },
  })
  closers.push(() => shop.stop())
  const { privateKey } = developmentRoles.payer
  const mine = svcPay({ url: `${network.shopUrl}/cheap`, rpcUrl, token: deployment.token, privateKey })
  closers.push(mine.close)
  return { contestants, buyers: { svcPay: mine.buyer, official: officialClient(shop.ready.url, privateKey) } }
}
