/** A node of the simulated chain, behind the JSON-RPC client of one process: it delays, loses, lags and lies. */
import { burnTrialAbi, burnTrialBytecode, paymentLensBytecode, tokenAbi } from '@svc-zerc20/contracts'
import { type JsonRpc, type RpcAnswer, type RpcCall, resultOf } from '@svc-zerc20/evm'
import { type Address, SvcError } from '@svc-zerc20/protocol'
import type { Hex } from 'viem'
import {
  decodeAbiParameters,
  encodeFunctionData,
  encodeFunctionResult,
  keccak256,
  parseTransaction,
} from 'viem/utils'
import type { SendingAccount } from '../../src/config/secrets/sending-account.js'
import {
  type Block,
  type Call,
  type Chain,
  chainId,
  helper,
  quantity,
  type Transaction,
  toRequests,
  verifier,
  word,
} from './chain.js'
import type { Draws } from './draws.js'
import type { Process, Timeline } from './timeline.js'

export type NodeFaults = {
  /** Milliseconds of a round trip, at most. */
  delayMs: number
  /** Share of round trips that are lost on the way to the node, or on the way back. */
  lost: number
  /** Share of round trips that a backend answers which is behind, and how far it is behind. */
  lagging: number
  lagMs: number
  /** Share of single answers that are errors. */
  refused: number
  /** Share of receipts that are not there yet although their block is. */
  lateReceipts: number
  /** Share of heads that no block backs. */
  lyingHeads: number
  /** Share of sent transactions that are taken and forgotten, and that the node refuses. */
  forgotten: number
  refusedSends: number
}

export type Network = ReturnType<typeof createNetwork>

/** The words of nodes, of those that pass and of those that last. */
const refusals = [
  'replacement transaction underpriced',
  'txpool is full',
  'nonce too high',
  'insufficient funds for gas * price + value',
  'exceeds block gas limit',
  'internal error',
]

const constructorOf = (abi: readonly { readonly type: string; readonly inputs?: unknown }[]) =>
  abi.find(({ type }) => type === 'constructor')?.inputs as never
const trialInputs = constructorOf(burnTrialAbi)
const indexCall = encodeFunctionData({ abi: tokenAbi, functionName: 'index' })
const hashChainCall = encodeFunctionData({ abi: tokenAbi, functionName: 'hashChain' })

const argumentsOf = (inputs: never, bytecode: string, data: string): readonly unknown[] =>
  decodeAbiParameters(inputs, `0x${data.slice(bytecode.length)}`)

const lowerCase = (address: string) => address.toLowerCase() as Address

/** The calldata of a mint, as the proofs of the simulation make it. */
export const mintData = (nonce: string, payTo: Address, value: bigint): Hex =>
  `0x${nonce.slice(2)}${payTo.slice(2)}${value.toString(16).padStart(64, '0')}`

function callIn(chain: Chain, to: Address, data: Hex): Call {
  if (to === helper) return { kind: 'burns', requests: chain.readBurns(data) }
  if (to !== verifier) return { kind: 'empty' }
  return {
    kind: 'mint',
    nonce: data.slice(0, 66) as never,
    payTo: `0x${data.slice(66, 106)}` as Address,
    value: BigInt(`0x${data.slice(106)}`),
  }
}

/** A transaction that a node was given. */
export type Sent = {
  readonly from: Address
  readonly txNonce: number
  readonly to: Address
  readonly data: Hex
}

export function createNetwork(deps: {
  readonly chain: Chain
  readonly draws: Draws
  readonly timeline: Timeline
  readonly faults: NodeFaults
  readonly onSent: (sent: Sent) => void
}) {
  const { chain, draws, timeline, faults } = deps
  const blockOf = ({ number, hash, time, baseFee }: Block) => ({
    number: quantity(number),
    hash,
    timestamp: quantity(time),
    baseFeePerGas: quantity(baseFee),
  })

  /** In words, as the contract encodes it: of all calls this is the most frequent one. */
  function lens(view: Block, data: string): Hex {
    const wordAt = (i: number) => data.slice(paymentLensBytecode.length + 64 * i).slice(0, 64)
    const addressAt = (i: number) => `0x${wordAt(i).slice(24)}` as Address
    const count = (i: number) => Number.parseInt(wordAt(i), 16)
    const permits = Array.from({ length: count(4) }, (_, i) => {
      const at = 5 + 4 * i
      const { permitNonce, balance, allowance } = chain.holderAt(view, addressAt(at))
      const isExecuted = chain.isExecuted(view, `0x${wordAt(at + 3)}` as never)
      return [permitNonce, balance, allowance, isExecuted ? 1 : 0, 0].map(word).join('')
    })
    const addressesAt = 5 + 4 * permits.length
    const balances = Array.from({ length: count(addressesAt) }, (_, i) =>
      word(chain.leavesAt(view, addressAt(addressesAt + 1 + i)).reduce((sum, { value }) => sum + value, 0n)),
    )
    const balancesAt = 7 + 5 * permits.length
    const nameAt = balancesAt + 1 + balances.length
    const head = [view.time, view.number, chainId, 32 * 6, 32 * balancesAt, 32 * nameAt].map(word).join('')
    const name = `${word(1)}${'54'.padEnd(64, '0')}`
    return `0x${head}${word(permits.length)}${permits.join('')}${word(balances.length)}${balances.join('')}${name}`
  }

  function trial(view: Block, data: string): Hex {
    const [, requests] = argumentsOf(trialInputs, burnTrialBytecode, data)
    const outcomes = chain
      .tryBurns(view, toRequests(requests))
      .map((reason) => ({ executed: reason === undefined, reason: reason ?? '0x' }))
    const result = [BigInt(view.time), BigInt(view.number), outcomes] as const
    return encodeFunctionResult({ abi: burnTrialAbi, functionName: 'run', result } as never)
  }

  function ethCall(view: Block, call: { to?: Address; data: Hex }, at: unknown): RpcAnswer {
    const { data } = call
    if (data.startsWith(paymentLensBytecode)) return { result: lens(view, data) }
    if (data.startsWith(burnTrialBytecode)) return { result: trial(view, data) }
    if (call.to === verifier) {
      const mint = callIn(chain, verifier, data)
      const isDue = mint.kind === 'mint' && chain.dueOf(view, mint) !== undefined
      return isDue ? { result: '0x' } : { error: { code: 3, message: 'execution reverted' } }
    }
    const block = view.path.find(({ hash }) => hash === (at as { blockHash?: string }).blockHash)
    if (!block) return { error: { code: -32000, message: 'header not found' } }
    if (data === indexCall) return { result: quantity(block.leaves) }
    if (data === hashChainCall) return { result: quantity(block.hashChain) }
    return { error: { code: -32601, message: `no such call ${data}` } }
  }

  function logs(view: Block, filter: Record<string, unknown>): unknown[] {
    const topics = filter.topics as readonly string[]
    const blocks = view.path.slice(Number(filter.fromBlock), Number(filter.toBlock) + 1)
    return blocks.flatMap(({ mined }) =>
      mined.flatMap(({ receipt }) =>
        receipt.logs.filter(
          (log) => log.address === filter.address && topics.every((topic, i) => topic === log.topics[i]),
        ),
      ),
    )
  }

  const known = new Map<Hex, { readonly transaction: Transaction; readonly sent: Sent } | undefined>()

  /** Bytes are read once, however often they are sent. */
  function read(raw: Hex) {
    if (!known.has(raw)) known.set(raw, parse(raw))
    return known.get(raw)
  }

  function parse(raw: Hex) {
    const parsed = parseTransaction(raw)
    const {
      nonce: txNonce = 0,
      to,
      data = '0x',
      maxFeePerGas = 0n,
      maxPriorityFeePerGas: tip = 0n,
      r,
    } = parsed
    const from = r && signerIn(r)
    if (!from || !to) return undefined
    const sent: Sent = { from, txNonce, to: lowerCase(to), data }
    const call = callIn(chain, sent.to, data)
    return { transaction: { hash: keccak256(raw), from, txNonce, maxFeePerGas, tip, call }, sent }
  }

  function take(raw: Hex): RpcAnswer {
    const told = read(raw)
    if (!told) return { error: { code: -32000, message: 'invalid sender' } }
    const { transaction, sent } = told
    deps.onSent(sent)
    if (draws.happens(faults.refusedSends)) {
      return { error: { code: -32000, message: draws.oneOf(refusals) } }
    }
    const message = chain.submit(transaction, { isKept: !draws.happens(faults.forgotten) })
    return message === undefined ? { result: transaction.hash } : { error: { code: -32000, message } }
  }

  function receipt(view: Block, hash: Hex): RpcAnswer {
    const mined = chain.minedIn(view, hash)
    const isLate = mined && mined.block.number === view.number && draws.happens(faults.lateReceipts)
    return { result: (!isLate && mined?.receipt) || null }
  }

  function block(view: Block, at: string): RpcAnswer {
    if (at !== 'latest') {
      const found = view.path[Number(at)]
      return { result: found ? blockOf(found) : null }
    }
    if (!draws.happens(faults.lyingHeads)) return { result: blockOf(view) }
    return {
      result: {
        ...blockOf(view),
        number: quantity(view.number + draws.between(1, 1_000_000)),
        hash: draws.hex(32),
      },
    }
  }

  function answer(view: Block, { method, params }: RpcCall): RpcAnswer {
    if (draws.happens(faults.refused)) return { error: { code: -32000, message: 'internal error' } }
    const [first, second] = params as [never, never]
    switch (method) {
      case 'eth_chainId':
        return { result: quantity(chainId) }
      case 'eth_getBlockByNumber':
        return block(view, first)
      case 'eth_getTransactionReceipt':
        return receipt(view, first)
      case 'eth_getTransactionCount': {
        const count = second === 'pending' ? chain.pendingCount(view, first) : chain.usedAt(view, first)
        return { result: quantity(count) }
      }
      case 'eth_sendRawTransaction':
        return take(first)
      case 'eth_call':
        return ethCall(view, first, second)
      case 'eth_getLogs':
        return { result: logs(view, first) }
      case 'eth_getBalance':
        return { result: quantity(10n ** 24n) }
      case 'eth_maxPriorityFeePerGas':
        return { result: quantity(10n ** 9n) }
      default:
        return { error: { code: -32601, message: `no such method ${method}` } }
    }
  }

  const chooseView = (): Block =>
    draws.happens(faults.lagging) ? chain.tipBefore(draws.between(0, faults.lagMs)) : chain.tip()

  /** Most questions arrive at once. */
  const pauseMs = (share: number) => (draws.happens(share) ? draws.between(0, faults.delayMs) : 0)

  /** One round trip of a process: the question arrives, then its answer, or neither. */
  function roundTrip<T>(process: Process, ask: (view: Block) => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const lose = (why: string) =>
        timeline.after(draws.between(100, 10_000), () =>
          process.wake(() => reject(new SvcError('rpc_unreachable', why))),
        )
      if (!process.isAlive()) return
      if (draws.happens(faults.lost)) return void lose('the question was lost')
      const arrive = () => {
        const told = ask(chooseView())
        if (draws.happens(faults.lost)) return void lose('the answer was lost')
        timeline.soon(pauseMs(0.7), () => process.wake(() => resolve(told)))
      }
      timeline.soon(pauseMs(0.2), arrive)
    })
  }

  return {
    roundTrip,

    /** The client of one process. */
    rpcOf(process: Process): JsonRpc {
      const batch = (calls: readonly RpcCall[]) =>
        roundTrip(process, (view) => calls.map((call) => answer(view, call)))
      return {
        batch,
        call: async (method, params) => resultOf(method, (await batch([{ method, params }]))[0]),
        close: () => undefined,
      }
    },

    accountOf,
  }
}

/** An account whose signatures are believed here. Nobody computes one: the signer is written into it. */
const accountOf = (address: Address): SendingAccount => ({
  address,
  sign: async () => `0x${address.slice(2).padStart(64, '1')}${'2'.repeat(64)}1b`,
})

const signerIn = (r: Hex): Address => `0x${r.slice(-40)}` as Address
