/**
 * The indexer's reads from a node. An answer of the wrong form is a failure of the node, and is found here.
 */
import { tokenAbi, verifierAbi } from '@svc-zerc20/contracts'
import {
  blockCall,
  type BlockRef as ChainBlock,
  callAll,
  indexedTransferTopic,
  type JsonRpc,
  latestCall,
  quantityOf,
  type RpcCall,
  readBlock,
  readLatest,
  readLogs,
} from '@svc-zerc20/evm'
import { type Address, type Bytes32, parseBytes32, SvcError } from '@svc-zerc20/protocol'
import type { Abi } from 'viem'
import { encodeFunctionData } from 'viem/utils'
import { parseTransfer, type ReportedTransfer } from './transfer.js'

export type BlockRef = { readonly number: number; readonly hash: Bytes32 }

export type VerifierState = {
  readonly reservedIndex: number
  readonly provedIndex: number
  readonly isPaused: boolean
}

export type Chain = {
  chainId(): Promise<number>
  /** The newest block, and the block at a height: undefined when the chain does not reach it. */
  latestAnd(number: number): Promise<{ latest: BlockRef; known: BlockRef | undefined }>
  blocksAt(numbers: readonly number[]): Promise<readonly (BlockRef | undefined)[]>
  /** Transfers of the token in the order of the chain. */
  transfers(fromBlock: number, toBlock: number): Promise<readonly ReportedTransfer[]>
  /** The token's own state in exactly that block, not in another block of the same height. */
  tokenAt(block: BlockRef): Promise<{ index: number; hashChain: bigint }>
  verifierNow(): Promise<VerifierState>
  /** The verifier's hash chain at these leaf counts; zero where none was reserved. */
  reservedChains(indices: readonly number[]): Promise<readonly bigint[]>
  provedRoot(index: number): Promise<bigint>
}

/** Creates a reader of one token and its verifier. */
export function createChain(deps: { rpc: Pick<JsonRpc, 'batch'>; token: Address; verifier: Address }): Chain {
  const { rpc, token, verifier } = deps

  async function words(calls: readonly ContractCall[]): Promise<readonly bigint[]> {
    return (await callAll(rpc, calls.map(toRpcCall))).map(readWord)
  }

  const ofVerifier = (functionName: string, args: readonly unknown[] = []): ContractCall => ({
    to: verifier,
    abi: verifierAbi,
    functionName,
    args,
    block: 'latest',
  })

  return {
    async chainId() {
      const [answer] = await rpc.batch([{ method: 'eth_chainId', params: [] }])
      return Number(quantityOf('eth_chainId', answer))
    },
    async latestAnd(number) {
      const [latest, known] = await rpc.batch([latestCall, blockCall(BigInt(number))])
      const found = readBlock(known)
      return { latest: counted(readLatest(latest)), known: found && counted(found) }
    },
    async blocksAt(numbers) {
      const answers = await rpc.batch(numbers.map((number) => blockCall(BigInt(number))))
      return answers.map(readBlock).map((block) => block && counted(block))
    },
    async transfers(fromBlock, toBlock) {
      const filter = { address: token, topics: [indexedTransferTopic] }
      return (await readLogs(rpc, filter, fromBlock, toBlock)).map(parseTransfer)
    },
    async tokenAt({ hash }) {
      const of = { to: token, abi: tokenAbi, args: [], block: { blockHash: hash } }
      const [index = 0n, hashChain = 0n] = await words([
        { ...of, functionName: 'index' },
        { ...of, functionName: 'hashChain' },
      ])
      return { index: Number(index), hashChain }
    },
    async verifierNow() {
      const [reserved, proved, paused] = await words([
        ofVerifier('latestReservedIndex'),
        ofVerifier('latestProvedIndex'),
        ofVerifier('paused'),
      ])
      return { reservedIndex: Number(reserved), provedIndex: Number(proved), isPaused: paused !== 0n }
    },
    reservedChains: (indices) =>
      words(indices.map((index) => ofVerifier('reservedHashChains', [BigInt(index)]))),
    async provedRoot(index) {
      const [root = 0n] = await words([ofVerifier('provedTransferRoots', [BigInt(index)])])
      return root
    },
  }
}

type ContractCall = {
  readonly to: Address
  readonly abi: Abi
  readonly functionName: string
  readonly args: readonly unknown[]
  readonly block: 'latest' | { readonly blockHash: Bytes32 }
}

const toRpcCall = ({ to, block, ...call }: ContractCall): RpcCall => ({
  method: 'eth_call',
  params: [{ to, data: encodeFunctionData(call) }, block],
})

function readWord(result: unknown): bigint {
  const word = parseBytes32(result)
  if (word === undefined) throw malformed('eth_call')
  return BigInt(word)
}

/** Heights are counted in plain numbers here. */
function counted({ number, hash }: ChainBlock): BlockRef {
  const height = Number(number)
  if (!Number.isSafeInteger(height)) throw malformed('eth_getBlockByNumber')
  return { number: height, hash }
}

const malformed = (method: string) =>
  new SvcError('rpc_error', `${method}: the RPC answered with a malformed result`)
