/** What the indexer reads from a node. An answer of the wrong form is the node's failure, found here. */
import { tokenAbi, verifierAbi } from '@svc-zerc20/contracts'
import { type Address, type Bytes32, parseBytes32, SvcError } from '@svc-zerc20/protocol'
import { type Abi, encodeFunctionData, type Hex } from 'viem'
import { z } from 'zod'
import type { JsonRpc, RpcCall } from './json-rpc.js'
import { parseTransferLog, quantity, type TransferLog, transferTopic } from './transfer-log.js'

export type BlockRef = { readonly number: number; readonly hash: Bytes32 }

export type VerifierState = {
  readonly reservedIndex: number
  readonly provedIndex: number
  readonly isPaused: boolean
}

export type Chain = {
  chainId(): Promise<number>
  /** The newest block, and the one at a height: undefined when the chain does not reach it. */
  latestAnd(number: number): Promise<{ latest: BlockRef; known: BlockRef | undefined }>
  blocksAt(numbers: readonly number[]): Promise<readonly (BlockRef | undefined)[]>
  /** Transfers of the token in the order of the chain. */
  transfers(fromBlock: number, toBlock: number): Promise<readonly TransferLog[]>
  /** What the token says about itself in exactly that block, not in another one of the same height. */
  tokenAt(block: BlockRef): Promise<{ index: number; hashChain: bigint }>
  verifierNow(): Promise<VerifierState>
  /** The verifier's hash chain at these leaf counts; zero where none was reserved. */
  reservedChains(indices: readonly number[]): Promise<readonly bigint[]>
  provedRoot(index: number): Promise<bigint>
}

/** Creates a reader of one token and its verifier. */
export function createChain(deps: { rpc: JsonRpc; token: Address; verifier: Address }): Chain {
  const { rpc, token, verifier } = deps

  async function words(calls: readonly ContractCall[]): Promise<readonly bigint[]> {
    const results = await rpc.batch(calls.map(toRpcCall))
    return results.map((result) => parse('eth_call', wordShape, result))
  }

  const ofVerifier = (functionName: string, args: readonly unknown[] = []): ContractCall => ({
    to: verifier,
    abi: verifierAbi,
    functionName,
    args,
    block: 'latest',
  })

  return {
    chainId: async () => parse('eth_chainId', quantity, await rpc.call('eth_chainId', [])),
    async latestAnd(number) {
      const [latest, known] = await rpc.batch([blockCall('latest'), blockCall(hexOf(number))])
      const head = parseBlock(latest)
      if (head === undefined)
        throw new SvcError('rpc_error', 'eth_getBlockByNumber: there is no latest block')
      return { latest: head, known: parseBlock(known) }
    },
    async blocksAt(numbers) {
      return (await rpc.batch(numbers.map((number) => blockCall(hexOf(number))))).map(parseBlock)
    },
    async transfers(fromBlock, toBlock) {
      const span = { fromBlock: hexOf(fromBlock), toBlock: hexOf(toBlock) }
      const logs = await rpc.call('eth_getLogs', [{ address: token, topics: [transferTopic], ...span }])
      return parse('eth_getLogs', z.array(z.unknown()), logs).map(parseTransferLog)
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

const hexOf = (number: number): Hex => `0x${number.toString(16)}`

const blockCall = (at: string): RpcCall => ({ method: 'eth_getBlockByNumber', params: [at, false] })

const wordShape = z
  .string()
  .regex(/^0x[0-9a-f]{64}$/i)
  .transform(BigInt)

const hashShape = z
  .custom<string>((text) => parseBytes32(text) !== undefined)
  .transform((text) => parseBytes32(text) as Bytes32)
const blockShape = z.object({ number: quantity, hash: hashShape }).nullable()

const parseBlock = (raw: unknown): BlockRef | undefined =>
  parse('eth_getBlockByNumber', blockShape, raw) ?? undefined

function parse<T>(method: string, shape: z.ZodType<T>, raw: unknown): T {
  const parsed = shape.safeParse(raw)
  if (parsed.success) return parsed.data
  throw new SvcError('rpc_error', `${method}: the RPC answered with a malformed result`, {
    cause: parsed.error,
  })
}
