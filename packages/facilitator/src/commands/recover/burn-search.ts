/** Finds burns on the chain, by its logs and receipts. */
import { permitBurnerAbi, tokenAbi } from '@svc-zerc20/contracts'
import { type ChainLog, type JsonRpc, readHead, resultOf, scanLogs, wellFormed } from '@svc-zerc20/evm'
import {
  type Address,
  type BaseUnits,
  type ChallengeNonce,
  parseAddress,
  parseTxHash,
  type TxHash,
} from '@svc-zerc20/protocol'
import { pad, parseEventLogs, toEventSelector } from 'viem/utils'
import { burnExecutedTopic } from '../../chain/burn-logs.js'
import type { ChainReader } from '../../chain/chain.js'
import type { TransferLog } from '../../payment/ports.js'
import type { Burn } from '../../payment/records.js'
import type { BurnSearch, ExecutedBurn } from './find-burns.js'

type ClaimedTransfer = { readonly txHash: TxHash; readonly value: bigint }

type BurnSearchDeps = {
  readonly rpc: Pick<JsonRpc, 'batch'>
  readonly chain: Pick<ChainReader, 'balances' | 'selfTransferFacts'>
  readonly token: Address
  readonly helper: Address | undefined
  /** A block at or before the first one that can hold a burn. */
  readonly fromBlock: number
  readonly limits: {
    /** Addresses in one request. */
    readonly lensQueriesMax: number
    readonly logSpanBlocksMax: number
  }
}

export function createBurnSearch(deps: BurnSearchDeps): BurnSearch {
  const { chain, token, limits } = deps

  async function balances(addresses: readonly Address[]): Promise<readonly bigint[]> {
    const found: bigint[] = []
    for (const some of inParts(addresses, limits.lensQueriesMax)) found.push(...(await chain.balances(some)))
    return found
  }

  /** The transfer from its receipt; undefined when the receipt disagrees with the log. */
  async function readBurn(to: Address, claimed: ClaimedTransfer | undefined): Promise<Burn | undefined> {
    if (!claimed) return undefined
    const { receipt } = await chain.selfTransferFacts(claimed.txHash, to, 1)
    const isIt = (transfer: TransferLog) => transfer.to === to && transfer.value === claimed.value
    const transfer = receipt?.succeeded ? receipt.transfers.find(isIt) : undefined
    if (!receipt || !transfer) return undefined
    const { blockNumber, blockHash } = receipt
    const { leafIndex, from, value } = transfer
    return { txHash: claimed.txHash, blockNumber, blockHash, leafIndex, from, value }
  }

  /** Reads the token's logs, in one pass for all addresses. */
  async function fromLogs(addresses: readonly Address[], fromBlock: number): Promise<Map<Address, Burn>> {
    const transfers = new Map<Address, ClaimedTransfer[]>()
    for (const some of inParts(addresses, limits.lensQueriesMax)) {
      const topics = [transferTopic, null, some.map((address) => pad(address))]
      const blocks = { fromBlock, spanBlocksMax: limits.logSpanBlocksMax }
      for await (const { logs } of scanLogs(deps.rpc, { address: token, topics }, blocks)) {
        for (const { to, ...transfer } of transfersOf(logs)) {
          transfers.set(to, [...(transfers.get(to) ?? []), transfer])
        }
      }
    }
    const burns = new Map<Address, Burn>()
    for (const [address, claimed] of transfers) {
      const burn = await readBurn(address, largestOf(claimed))
      if (burn) burns.set(address, burn)
    }
    return burns
  }

  /** First block to search. If a challenge's recorded block is impossible, everything is searched: the node had lied. */
  async function firstBlockOf(payments: readonly { readonly issuedAtBlock: bigint }[]): Promise<number> {
    const head = await readHead(deps.rpc)
    const first = payments.reduce(
      (least, { issuedAtBlock }) => Math.min(least, issuedAtBlock <= head ? Number(issuedAtBlock) : 0),
      Number.MAX_SAFE_INTEGER,
    )
    return Math.max(first, deps.fromBlock)
  }

  return {
    balances,

    async largestTransfers(payments) {
      const held = await balances(payments.map(({ payTo }) => payTo))
      const paid = payments.filter((_, i) => (held[i] ?? 0n) > 0n)
      if (paid.length === 0) return new Map()
      return fromLogs(
        paid.map(({ payTo }) => payTo),
        await firstBlockOf(paid),
      )
    },

    async *executedBurns() {
      if (!deps.helper) return
      const filter = { address: deps.helper, topics: [burnExecutedTopic, null, pad(token)] }
      const blocks = { fromBlock: deps.fromBlock, spanBlocksMax: limits.logSpanBlocksMax }
      for await (const { logs } of scanLogs(deps.rpc, filter, blocks)) yield* executedIn(logs)
    },

    senders: (transactions) => sendersOf(deps, transactions),
  }
}

async function sendersOf(
  { rpc, limits }: Pick<BurnSearchDeps, 'rpc' | 'limits'>,
  transactions: readonly TxHash[],
): Promise<readonly (Address | undefined)[]> {
  const method = 'eth_getTransactionByHash'
  const senders: (Address | undefined)[] = []
  for (const some of inParts(transactions, limits.lensQueriesMax)) {
    const answers = await rpc.batch(some.map((hash) => ({ method, params: [hash] })))
    senders.push(...answers.map((answer) => parseAddress(Object(resultOf(method, answer)).from)))
  }
  return senders
}

const transferTopic = toEventSelector('Transfer(address,address,uint256)')

/** The largest transfer; the earliest of equal ones. */
const largestOf = (transfers: readonly ClaimedTransfer[]): ClaimedTransfer | undefined =>
  transfers.reduce<ClaimedTransfer | undefined>(
    (largest, transfer) => (largest && largest.value >= transfer.value ? largest : transfer),
    undefined,
  )

function transfersOf(logs: readonly ChainLog[]): (ClaimedTransfer & { readonly to: Address })[] {
  const parsed = wellFormed('eth_getLogs', () =>
    parseEventLogs({ abi: tokenAbi, eventName: 'Transfer', logs: logs as never }),
  )
  return parsed.flatMap(({ args, transactionHash }) => {
    const to = parseAddress(args.to)
    const txHash = parseTxHash(transactionHash)
    return to && txHash ? [{ to, txHash, value: args.value }] : []
  })
}

function executedIn(logs: readonly ChainLog[]): ExecutedBurn[] {
  const parsed = wellFormed('eth_getLogs', () =>
    parseEventLogs({ abi: permitBurnerAbi, eventName: 'BurnExecuted', logs: logs as never }),
  )
  return parsed.flatMap(({ args, transactionHash, blockNumber, blockHash }) => {
    const payTo = parseAddress(args.burnAddress)
    const from = parseAddress(args.payer)
    const txHash = parseTxHash(transactionHash)
    if (!payTo || !from || !txHash || !blockHash) return []
    const nonce = args.challengeNonce as ChallengeNonce
    const value = args.value as BaseUnits
    return [{ nonce, payTo, from, value, txHash, blockHash, blockNumber: BigInt(blockNumber ?? 0) }]
  })
}

export function* inParts<T>(items: readonly T[], size: number): Iterable<readonly T[]> {
  for (let i = 0; i < items.length; i += size) yield items.slice(i, i + size)
}
