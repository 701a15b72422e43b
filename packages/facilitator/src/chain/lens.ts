/** Everything a payment depends on, read from one block by one deployless call: the lens runs in the node and returns. */
import { paymentLensAbi, paymentLensBytecode, tokenAbi } from '@svc-zerc20/contracts'
import {
  type JsonRpc,
  quantityOf,
  type RpcAnswer,
  type RpcCall,
  readHead,
  resultOf,
  wellFormed,
} from '@svc-zerc20/evm'
import {
  type Address,
  type BaseUnits,
  SvcError,
  type TokenLabel,
  type UnixSeconds,
  zeroAddress,
} from '@svc-zerc20/protocol'
import type { Hex } from 'viem'
import { decodeFunctionResult, encodeDeployData, encodeFunctionData } from 'viem/utils'
import type { PermitChainFacts } from '../payment/ports.js'
import type { Challenge } from '../payment/records.js'

/** Code that is neither empty nor an EIP-7702 delegation; the lens' `AccountCode.Contract`. */
const contractCode = 2

export type PermitQuery = {
  readonly payer: Address
  readonly burnAddress: Address
  readonly value: bigint
  readonly challengeNonce: Hex
}

export const queryOf = ({ payTo, amount, nonce }: Challenge, payer: Address): PermitQuery => ({
  payer,
  burnAddress: payTo,
  value: amount,
  challengeNonce: nonce,
})

/** A block as contracts see it. On some rollups its number is a number of the chain below. */
export type LensBlock = { readonly timestamp: UnixSeconds; readonly number: bigint }

export const isBefore = (a: LensBlock, b: LensBlock): boolean =>
  a.timestamp < b.timestamp || a.number < b.number

export type Lens = ReturnType<typeof createLens>

export function createLens(deps: {
  readonly rpc: Pick<JsonRpc, 'batch'>
  readonly token: Address
  readonly helper: Address | undefined
  readonly chainId: number
}) {
  const { rpc, token, helper = zeroAddress } = deps
  let viewedAt: LensBlock = { timestamp: 0 as UnixSeconds, number: 0n }

  /** Throws when the node answers for another chain. */
  function read(answer: RpcAnswer | undefined) {
    const [timestamp, number, chainId, permits, balances] = decode(resultOf('eth_call', answer))
    if (chainId !== BigInt(deps.chainId)) {
      throw new SvcError('wrong_chain', `the RPC answers for chain ${chainId}, not ${deps.chainId}`)
    }
    viewedAt = { timestamp: Number(timestamp) as UnixSeconds, number }
    return { timestamp: viewedAt.timestamp, permits, balances }
  }

  return {
    /** Reads the balances of burn addresses, for callers that combine it with others in one round trip. */
    balancesCall: (addresses: readonly Address[]) => callOf(token, helper, [], addresses),
    readBalances: read,
    async permits(queries: readonly PermitQuery[]): Promise<readonly PermitChainFacts[]> {
      const [answer] = await rpc.batch([callOf(token, helper, queries, [])])
      const { timestamp, permits } = read(answer)
      return permits.map(({ nonce, balance, allowance, executed, code }) => ({
        timestamp,
        permitNonce: nonce,
        balance,
        allowance,
        executed,
        payerIsContract: code === contractCode,
      }))
    },
    /** The block that was last read. */
    viewedAt: () => viewedAt,
  }
}

function callOf(
  token: Address,
  helper: Address,
  permits: readonly PermitQuery[],
  burnAddresses: readonly Address[],
): RpcCall {
  const data = encodeDeployData({
    abi: paymentLensAbi,
    bytecode: paymentLensBytecode,
    args: [token, helper, permits, burnAddresses],
  })
  return { method: 'eth_call', params: [{ data }, 'latest'] }
}

function decode(data: unknown) {
  return wellFormed('eth_call', () =>
    decodeFunctionResult({ abi: paymentLensAbi, functionName: 'read', data: data as Hex }),
  )
}

/** Facts that must be known before anything can be served. */
export async function readDeployment(
  rpc: JsonRpc,
  token: Address,
): Promise<{ chainId: number; tokenName: string; headNumber: bigint }> {
  const { method, params } = callOf(token, zeroAddress, [], [])
  const result = decode(await rpc.call(method, params))
  return { chainId: Number(result[2]), tokenName: result[5], headNumber: await readHead(rpc) }
}

export async function readBalance(
  rpc: Pick<JsonRpc, 'batch'>,
  token: Address,
  holder: Address,
): Promise<BaseUnits> {
  const data = encodeFunctionData({ abi: tokenAbi, functionName: 'balanceOf', args: [holder] })
  const [answer] = await rpc.batch([{ method: 'eth_call', params: [{ to: token, data }, 'latest'] }])
  return quantityOf('eth_call', answer) as BaseUnits
}

/** The token's symbol and decimals, which only people read. Undefined when it does not tell. */
export async function readTokenLabel(rpc: JsonRpc, token: Address): Promise<TokenLabel | undefined> {
  try {
    const read = (functionName: 'symbol' | 'decimals') => ({
      method: 'eth_call',
      params: [{ to: token, data: encodeFunctionData({ abi: tokenAbi, functionName }) }, 'latest'],
    })
    const [symbol, decimals] = await Promise.all(
      [read('symbol'), read('decimals')].map(({ method, params }) => rpc.call(method, params)),
    )
    return {
      symbol: decodeFunctionResult({ abi: tokenAbi, functionName: 'symbol', data: symbol as Hex }),
      decimals: decodeFunctionResult({ abi: tokenAbi, functionName: 'decimals', data: decimals as Hex }),
    }
  } catch {
    return undefined
  }
}
