/** Reads the chain: receipts, and everything else through one deployless lens call per block view. */
import { paymentLensAbi, paymentLensBytecode, permitBurnerAbi } from '@svc-zerc20/contracts'
import {
  type BlockRef,
  isBacked,
  type JsonRpc,
  latestCall,
  parseReceipt,
  type RpcAnswer,
  type RpcCall,
  readHead,
  readLatest,
  resultOf,
  scanLogs,
  transfersIn,
  wellFormed,
} from '@svc-zerc20/evm'
import { type Address, SvcError, type TxHash, type UnixSeconds, zeroAddress } from '@svc-zerc20/protocol'
import type { Hex } from 'viem'
import { decodeFunctionResult, encodeDeployData, encodeEventTopics } from 'viem/utils'
import { createCoalescer } from '../coalesce.js'
import type { Chain, PermitChainFacts } from '../payment/ports.js'
import type { Burn, Challenge } from '../payment/records.js'
import { burnsIn } from './burn-logs.js'

/** Code that is neither empty nor an EIP-7702 delegation; the lens' `AccountCode.Contract`. */
const contractCode = 2

type PermitQuery = {
  readonly payer: Address
  readonly burnAddress: Address
  readonly value: bigint
  readonly challengeNonce: Hex
}

/** A block as contracts see it: on some rollups its number is one of the chain below. */
export type LensBlock = { readonly timestamp: UnixSeconds; readonly number: bigint }

export const isBefore = (a: LensBlock, b: LensBlock): boolean =>
  a.timestamp < b.timestamp || a.number < b.number

export type ChainReader = Chain & {
  /** Balances of burn addresses, in order, all of one block. */
  balances(addresses: readonly Address[]): Promise<readonly bigint[]>
  /** The burn the helper's replay ledger speaks of, found by its event. */
  findExecutedBurn(challenge: Challenge, payer: Address): Promise<Burn | undefined>
  /** The block that facts were last read at. */
  viewedAt(): LensBlock
  /** Told by whoever saw the newest block, and that it is there. */
  sawHead(blockNumber: bigint): void
}

export function createChain(deps: {
  rpc: Pick<JsonRpc, 'batch'>
  token: Address
  helper: Address | undefined
  chainId: number
  lensQueriesMax: number
  lensCallsInFlightMax: number
  logSpanBlocksMax: number
  /** A block at or before the first one that can hold a burn. */
  fromBlock: number
  /** A head further than this from the known one is looked up at the node before it is used. */
  headStepBlocks: bigint
}): ChainReader {
  const { rpc, token, helper } = deps
  let head = 0n
  let isAsking = false
  let viewedAt: LensBlock = { timestamp: 0 as UnixSeconds, number: 0n }

  function sawHead(blockNumber: bigint): void {
    head = blockNumber
  }

  /** Off the request's path: a head that is a few blocks old does no harm, and one that nothing backs would. */
  async function hear({ number }: BlockRef): Promise<void> {
    const step = number > head ? number - head : head - number
    if (isAsking || step <= deps.headStepBlocks) return
    isAsking = true
    try {
      if (await isBacked(rpc, number)) head = number
    } catch {
      // The next one that is heard of is asked for.
    } finally {
      isAsking = false
    }
  }

  function lensCall(permits: readonly PermitQuery[], burnAddresses: readonly Address[]): RpcCall {
    const data = encodeDeployData({
      abi: paymentLensAbi,
      bytecode: paymentLensBytecode,
      args: [token, helper ?? zeroAddress, permits, burnAddresses],
    })
    return { method: 'eth_call', params: [{ data }, 'latest'] }
  }

  function readLens(answer: RpcAnswer | undefined) {
    const [timestamp, number, chainId, permits, balances] = decodeLens(resultOf('eth_call', answer))
    if (chainId !== BigInt(deps.chainId)) {
      throw new SvcError('wrong_chain', `the RPC answers for chain ${chainId}, not ${deps.chainId}`)
    }
    viewedAt = { timestamp: Number(timestamp) as UnixSeconds, number }
    return { timestamp: viewedAt.timestamp, permits, balances }
  }

  /**
   * From which block a burn is depth deep, when that matters: as far as a block backs it, and never below the burn
   * itself, whose receipt was just read.
   */
  async function headAbove(burnedIn: bigint | undefined, latest: BlockRef, isDepthNeeded: boolean) {
    if (burnedIn === undefined || !isDepthNeeded || latest.number <= burnedIn) return burnedIn ?? head
    return (await isBacked(rpc, latest.number)) ? latest.number : burnedIn
  }

  /** A node that lied about its head when a challenge was issued must not hide the burn for ever. */
  const searchFrom = ({ issuedAtBlock }: Challenge) =>
    issuedAtBlock <= head ? Number(issuedAtBlock) : deps.fromBlock

  async function readPermits(queries: readonly PermitQuery[]): Promise<readonly PermitChainFacts[]> {
    const [answer] = await rpc.batch([lensCall(queries, [])])
    const { timestamp, permits: facts } = readLens(answer)
    return facts.map(({ nonce, balance, allowance, executed, code }) => ({
      timestamp,
      permitNonce: nonce,
      balance,
      allowance,
      executed,
      payerIsContract: code === contractCode,
    }))
  }

  const permits = createCoalescer<PermitQuery, PermitChainFacts>({
    batchMax: deps.lensQueriesMax,
    inFlightMax: deps.lensCallsInFlightMax,
    run: readPermits,
  })

  return {
    sawHead,
    viewedAt: () => viewedAt,
    headNumber: () => head,

    permitFacts: (challenge, payer) => permits.ask(queryOf(challenge, payer)),

    permitFactsTogether: (challenges, payer) =>
      readPermits(challenges.slice(0, deps.lensQueriesMax).map((challenge) => queryOf(challenge, payer))),

    async selfTransferFacts(txHash: TxHash, payTo: Address, confirmations: number) {
      const [receiptAnswer, lensAnswer, latestAnswer] = await rpc.batch([
        { method: 'eth_getTransactionReceipt', params: [txHash] },
        lensCall([], [payTo]),
        // Not the lens' block number: on some rollups that is one of the chain below.
        latestCall,
      ])
      const receipt = parseReceipt(resultOf('eth_getTransactionReceipt', receiptAnswer))
      const { timestamp, balances } = readLens(lensAnswer)
      const latest = readLatest(latestAnswer)
      void hear(latest)
      const headNumber = await headAbove(receipt?.blockNumber, latest, confirmations > 1)
      return {
        timestamp,
        headNumber,
        burnAddressBalance: balances[0] ?? 0n,
        ...(receipt && {
          receipt: {
            succeeded: receipt.succeeded,
            blockNumber: receipt.blockNumber,
            blockHash: receipt.blockHash,
            transfers: transfersIn(receipt.logs, token),
          },
        }),
      }
    },

    async balances(addresses) {
      const [answer] = await rpc.batch([lensCall([], addresses)])
      return readLens(answer).balances
    },

    async findExecutedBurn(challenge, payer) {
      if (!helper) return undefined
      const topics = encodeEventTopics({
        abi: permitBurnerAbi,
        eventName: 'BurnExecuted',
        args: { challengeNonce: challenge.nonce, token, payer },
      })
      head = await readHead(rpc)
      const blocks = { fromBlock: searchFrom(challenge), spanBlocksMax: deps.logSpanBlocksMax }
      for await (const { logs } of scanLogs(rpc, { address: helper, topics }, blocks)) {
        for (const { transactionHash } of logs) {
          const [answer] = await rpc.batch([
            { method: 'eth_getTransactionReceipt', params: [transactionHash] },
          ])
          const receipt = parseReceipt(resultOf('eth_getTransactionReceipt', answer))
          const burn = receipt && burnsIn(receipt, token)(challenge)
          if (burn) return burn
        }
      }
      return undefined
    },
  }
}

const queryOf = ({ payTo, amount, nonce }: Challenge, payer: Address): PermitQuery => ({
  payer,
  burnAddress: payTo,
  value: amount,
  challengeNonce: nonce,
})

function decodeLens(data: unknown) {
  return wellFormed('eth_call', () =>
    decodeFunctionResult({ abi: paymentLensAbi, functionName: 'read', data: data as Hex }),
  )
}

/** What must be known before anything can be served. */
export async function readDeployment(
  rpc: JsonRpc,
  token: Address,
): Promise<{ chainId: number; tokenName: string; headNumber: bigint }> {
  const data = encodeDeployData({
    abi: paymentLensAbi,
    bytecode: paymentLensBytecode,
    args: [token, zeroAddress, [], []],
  })
  const result = decodeLens(await rpc.call('eth_call', [{ data }, 'latest']))
  return { chainId: Number(result[2]), tokenName: result[5], headNumber: await readHead(rpc) }
}
