/** Reads the chain: receipts, and everything else through one deployless lens call per block view. */
import { permitBurnerAbi } from '@svc-zerc20/contracts'
import {
  type JsonRpc,
  latestCall,
  parseReceipt,
  readBlockAt,
  readLatest,
  resultOf,
  scanLogs,
  transfersIn,
} from '@svc-zerc20/evm'
import type { Address } from '@svc-zerc20/protocol'
import { encodeEventTopics } from 'viem/utils'
import type { Chain, PermitChainFacts } from '../payment/ports.js'
import { burnIn } from './burn-logs.js'
import { createCoalescer } from './coalesce.js'
import { type ChainHead, createChainHead } from './head.js'
import { createLens, type Lens, type PermitQuery, queryOf } from './lens.js'

export type ChainReader = Chain & {
  /** Balances of burn addresses, in order, all of one block. */
  balances(addresses: readonly Address[]): Promise<readonly bigint[]>
  /** The block that facts were last read at. */
  readonly viewedAt: Lens['viewedAt']
  readonly sawHead: ChainHead['saw']
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
  const { rpc, token } = deps
  const head = createChainHead(deps)
  const lens = createLens(deps)
  const permits = createCoalescer<PermitQuery, PermitChainFacts>({
    batchMax: deps.lensQueriesMax,
    inFlightMax: deps.lensCallsInFlightMax,
    run: lens.permits,
  })

  return {
    sawHead: head.saw,
    headNumber: head.number,
    readHead: head.read,
    viewedAt: lens.viewedAt,
    findExecutedBurn: createFindExecutedBurn({ ...deps, head }),

    permitFacts: (challenge, payer) => permits.ask(queryOf(challenge, payer)),

    permitFactsTogether: (challenges, payer) =>
      lens.permits(challenges.slice(0, deps.lensQueriesMax).map((challenge) => queryOf(challenge, payer))),

    async selfTransferFacts(txHash, payTo, confirmations) {
      const [receiptAnswer, lensAnswer, latestAnswer] = await rpc.batch([
        { method: 'eth_getTransactionReceipt', params: [txHash] },
        lens.balancesCall([payTo]),
        // The lens' block number is not used: on some rollups it is a number of the chain below.
        latestCall,
      ])
      const receipt = parseReceipt(resultOf('eth_getTransactionReceipt', receiptAnswer))
      const { timestamp, balances } = lens.readBalances(lensAnswer)
      const latest = readLatest(latestAnswer)
      head.heard(latest)
      const headNumber = await head.above(receipt?.blockNumber, latest, confirmations > 1)
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

    blockTime: async (number) => (await readBlockAt(rpc, number))?.time,

    async balances(addresses) {
      const [answer] = await rpc.batch([lens.balancesCall(addresses)])
      return lens.readBalances(answer).balances
    },
  }
}

/** Finds the burn that the permit burner's replay ledger speaks of, by its event. */
function createFindExecutedBurn(deps: {
  readonly rpc: Pick<JsonRpc, 'batch'>
  readonly head: Pick<ChainHead, 'read'>
  readonly token: Address
  readonly helper: Address | undefined
  readonly logSpanBlocksMax: number
  /** A block at or before the first one that can hold a burn. */
  readonly fromBlock: number
}): Chain['findExecutedBurn'] {
  const { rpc, token, helper } = deps
  return async (challenge, payer) => {
    if (!helper) return undefined
    const { nonce: challengeNonce, issuedAtBlock } = challenge
    const topics = encodeEventTopics({
      abi: permitBurnerAbi,
      eventName: 'BurnExecuted',
      args: { challengeNonce, token, payer },
    })
    const head = await deps.head.read()
    // A node that lied about its head when the challenge was issued must not hide the burn for ever.
    const fromBlock = issuedAtBlock <= head ? Number(issuedAtBlock) : deps.fromBlock
    const blocks = { fromBlock, spanBlocksMax: deps.logSpanBlocksMax }
    for await (const { logs } of scanLogs(rpc, { address: helper, topics }, blocks)) {
      for (const { transactionHash } of logs) {
        const [answer] = await rpc.batch([{ method: 'eth_getTransactionReceipt', params: [transactionHash] }])
        const receipt = parseReceipt(resultOf('eth_getTransactionReceipt', answer))
        const burn = receipt && burnIn(receipt, token, challenge)
        if (burn) return burn
      }
    }
    return undefined
  }
}
