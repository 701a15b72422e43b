/** `svc-facilitator audit`: chain against books. Asks a daemon that runs, only reads, and needs no key. */
import { tokenAbi, verifierAbi } from '@svc-zerc20/contracts'
import { type JsonRpc, readHead } from '@svc-zerc20/evm'
import { type Address, parseAddress } from '@svc-zerc20/protocol'
import type { ChainReader } from '../../chain/chain.js'
import { firstBlockAt, readEvents } from '../../chain/past-events.js'
import type { Config } from '../../config/config.js'
import { limits } from '../../config/limits.js'
import { urlOf } from '../../config/settings.js'
import * as schemas from '../../http/admin/schemas.js'
import { openChainReader } from '../../start/chain-side.js'
import { type AdminClient, createAdminClient, statusWithFees } from '../admin/client.js'
import { createBurnSearch, inParts } from '../recover/burn-search.js'
import {
  type AuditBooks,
  type AuditChain,
  type AuditReport,
  type BookedPayment,
  compare,
  type Period,
} from './compare.js'

export type AuditOptions = {
  readonly config: Config
  /** `SVC_ADMIN_TOKEN` of the daemon. */
  readonly token: string | undefined
  readonly period: Period
  /** Where the daemon listens, when the configuration does not say it. */
  readonly url?: string | undefined
}

/** Payments of this much before a period may share a mint with those in it. */
const besideSeconds = 30 * 86_400

/** Throws `SvcError('admin_unreachable')` when no daemon answers. */
export async function audit({ config, token, period, url }: AuditOptions): Promise<AuditReport> {
  const books = await readBooks(createAdminClient({ url: url ?? urlOf(config.listen), token }), period)
  const { rpc, chain } = await openChainReader(config)
  try {
    return compare(books, await readChainFacts({ config, rpc, chain, books, period }), period)
  } finally {
    rpc.close()
  }
}

async function readBooks(client: AdminClient, period: Period): Promise<AuditBooks> {
  const limit = `${limits.pageSizeMax}`
  const since = `${Math.max(0, period.since - besideSeconds)}`
  const payments: BookedPayment[] = []
  let after: string | undefined
  do {
    const page = await client.get('/payments', schemas.paymentPage, { since, limit, after })
    payments.push(...page.payments)
    after = page.next
  } while (after !== undefined)
  const odd = await client.get('/late', schemas.oddBurns, { limit })
  const { fees, relayer } = await statusWithFees(client)
  return { payments, odd, fees, relayer: relayer.address }
}

type ChainFactsDeps = {
  readonly config: Config
  readonly rpc: JsonRpc
  readonly chain: ChainReader
  readonly books: AuditBooks
  readonly period: Period
}

/** Reads from the chain what the books are compared with. */
async function readChainFacts(deps: ChainFactsDeps): Promise<AuditChain> {
  const { config, rpc, books, period } = deps
  const { network, finalize } = config
  const blockAt = (time: number) => firstBlockAt(rpc, time, network.deployed_block)
  const fromBlock = await blockAt(period.since)
  const untilBlock = await blockAt(period.until)
  const head = Number(await readHead(rpc))
  const youngFrom = head - Math.max(finalize.confirmations, limits.auditYoungBlocks)
  const ageOf = (blockNumber: bigint | number | string | null) => {
    const block = Number(blockNumber ?? 0)
    return { isIn: block < untilBlock, isYoung: block >= youngFrom }
  }
  const mints = await readEvents(rpc, {
    address: network.verifier,
    abi: verifierAbi,
    eventName: 'Teleport',
    fromBlock,
    args: { to: treasuriesOf(books, config) },
  })
  return {
    balances: await balancesOf(deps),
    mints: mints.map(({ transactionHash, args, blockNumber }) => ({
      transaction: `${transactionHash}`,
      value: args.value,
      ...ageOf(blockNumber),
    })),
    relayed: (await relayedBurns(deps, fromBlock)).map(({ nonce, txHash, value, blockNumber }) => ({
      challengeNonce: nonce,
      transaction: txHash,
      value,
      ...ageOf(blockNumber),
    })),
    swept: await sweptOf(deps),
  }
}

async function balancesOf({ chain, books }: ChainFactsDeps): Promise<Map<string, bigint>> {
  const balances = new Map<string, bigint>()
  for (const some of inParts(books.payments, limits.lensQueriesMax)) {
    const held = await chain.balances(some.map(({ payTo }) => payTo as Address))
    for (const [i, { payTo }] of some.entries()) balances.set(payTo, held[i] ?? 0n)
  }
  return balances
}

function treasuriesOf({ payments }: AuditBooks, { settlement }: Config): Address[] {
  const named = payments.flatMap(({ treasury }) => parseAddress(treasury) ?? [])
  return [...new Set([settlement.treasury, ...named])]
}

async function relayedBurns({ config, rpc, chain, books }: ChainFactsDeps, fromBlock: number) {
  const { network, settlement } = config
  const helper = settlement.permit_burner
  const search = createBurnSearch({ ...limits, rpc, chain, token: network.token, helper, fromBlock })
  const executed = await search.executedBurns()
  const senders = await search.senders(executed.map(({ txHash }) => txHash))
  return executed.filter((_, i) => senders[i] === parseAddress(books.relayer))
}

/** Since the first payment: the books know the sum of all sweeps, and not of which time. */
async function sweptOf({ config, rpc, books }: ChainFactsDeps): Promise<bigint> {
  const { token: address, deployed_block: fromBlock } = config.network
  const to = [...new Set(books.payments.flatMap(({ fee }) => parseAddress(fee?.recipient) ?? []))]
  const from = parseAddress(books.fees.treasury)
  if (to.length === 0 || from === undefined) return BigInt(books.fees.swept.amount)
  const wanted = { address, abi: tokenAbi, eventName: 'Transfer', args: { from, to }, fromBlock } as const
  const sent = await readEvents(rpc, wanted)
  return sent.reduce((total, { args }) => total + args.value, 0n)
}
