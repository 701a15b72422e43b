/** Reads from the chain what the books are compared with. */
import { tokenAbi, verifierAbi } from '@svc-zerc20/contracts'
import { type ChainLog, type JsonRpc, readHead, scanLogs, wellFormed } from '@svc-zerc20/evm'
import { type Address, parseAddress } from '@svc-zerc20/protocol'
import { encodeEventTopics, pad, parseEventLogs } from 'viem/utils'
import { firstBlockAt } from '../../chain/first-block.js'
import type { Config } from '../../config/config.js'
import { limits } from '../../config/limits.js'
import type { ChainSide } from '../../start/chain-side.js'
import { createBurnSearch } from '../recover/burn-search.js'
import type { AuditBooks, AuditChain, Period } from './reckon.js'

export async function readChainFacts(deps: {
  readonly config: Config
  readonly chainSide: Pick<ChainSide, 'rpc' | 'chain' | 'relayer'>
  readonly books: AuditBooks
  readonly period: Period
  /** A daemon goes on while we look. */
  readonly isRunning: boolean
}): Promise<AuditChain> {
  const { config, chainSide, books, period } = deps
  const { rpc, chain } = chainSide
  const { network, settlement, finalize } = config
  const head = Number(await readHead(rpc))
  const blockAt = (time: number) => firstBlockAt(rpc, time, network.deployed_block)
  const fromBlock = await blockAt(period.since)
  const untilBlock = await blockAt(period.until)
  const youngFrom = deps.isRunning
    ? head - Math.max(finalize.confirmations, limits.auditYoungBlocks)
    : head + 1
  const placeOf = ({
    blockNumber,
  }: {
    readonly blockNumber?: bigint | number | string | null | undefined
  }) => {
    const block = Number(blockNumber ?? 0)
    return { isIn: block < untilBlock, isYoung: block >= youngFrom }
  }
  const search = createBurnSearch({
    rpc,
    chain,
    token: network.token,
    helper: settlement.permit_burner,
    fromBlock,
    limits,
  })
  const addresses = books.payments.flatMap(({ payTo }) => parseAddress(payTo) ?? [])
  const held = await search.balances(addresses)
  return {
    balances: new Map(books.payments.map(({ payTo }, i) => [payTo, held[i] ?? 0n])),
    mints: (await mintsTo(rpc, network.verifier, treasuriesOf(books, config), fromBlock)).map((mint) => ({
      transaction: `${mint.transactionHash}`,
      value: mint.args.value,
      ...placeOf(mint),
    })),
    relayed: (await relayedBy(search, chainSide.relayer.address)).map(
      ({ nonce, txHash, value, blockNumber }) => ({
        challengeNonce: nonce,
        transaction: txHash,
        value,
        ...placeOf({ blockNumber }),
      }),
    ),
    swept: await sweptOf(rpc, config, books),
  }
}

function treasuriesOf({ payments }: AuditBooks, { settlement }: Config): readonly Address[] {
  const named = payments.flatMap(({ treasury }) => parseAddress(treasury) ?? [])
  return [...new Set([settlement.treasury, ...named])]
}

async function mintsTo(
  rpc: Pick<JsonRpc, 'batch'>,
  verifier: Address,
  to: readonly Address[],
  fromBlock: number,
) {
  const topics = encodeEventTopics({ abi: verifierAbi, eventName: 'Teleport', args: { to: [...to] } })
  const logs = await logsOf(rpc, { address: verifier, topics: topics as never }, fromBlock)
  return wellFormed('eth_getLogs', () =>
    parseEventLogs({ abi: verifierAbi, eventName: 'Teleport', logs: logs as never }),
  )
}

async function relayedBy(search: ReturnType<typeof createBurnSearch>, relayer: Address) {
  const executed = []
  for await (const burn of search.executedBurns()) executed.push(burn)
  const senders = await search.senders(executed.map(({ txHash }) => txHash))
  return executed.filter((_, i) => senders[i] === relayer)
}

/** Since the first payment: the books know the sum of all sweeps, and not of which time. */
async function sweptOf(rpc: Pick<JsonRpc, 'batch'>, { network }: Config, books: AuditBooks): Promise<bigint> {
  const recipients = new Set(books.payments.flatMap(({ fee }) => parseAddress(fee?.recipient) ?? []))
  const treasury = parseAddress(books.fees.treasury)
  if (recipients.size === 0 || treasury === undefined) return BigInt(books.fees.swept.amount)
  const topics = encodeEventTopics({ abi: tokenAbi, eventName: 'Transfer', args: { from: treasury } })
  const to = [...recipients].map((recipient) => pad(recipient))
  const filter = { address: network.token, topics: [topics[0], topics[1], to] as never }
  const logs = await logsOf(rpc, filter, network.deployed_block)
  const sent = wellFormed('eth_getLogs', () =>
    parseEventLogs({ abi: tokenAbi, eventName: 'Transfer', logs: logs as never }),
  )
  return sent.reduce((total, { args }) => total + args.value, 0n)
}

async function logsOf(
  rpc: Pick<JsonRpc, 'batch'>,
  filter: Parameters<typeof scanLogs>[1],
  fromBlock: number,
): Promise<readonly ChainLog[]> {
  const all: ChainLog[] = []
  const blocks = { fromBlock, spanBlocksMax: limits.logSpanBlocksMax }
  for await (const { logs } of scanLogs(rpc, filter, blocks)) all.push(...logs)
  return all
}
