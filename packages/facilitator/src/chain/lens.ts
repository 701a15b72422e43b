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
  areDecimals,
  type BaseUnits,
  SvcError,
  type TokenLabel,
  type UnixSeconds,
  zeroAddress,
} from '@svc-zerc20/protocol'
import type { Hex } from 'viem'
import { decodeFunctionResult, encodeFunctionData } from 'viem/utils'
import type { PermitChainFacts } from '../payment/ports.js'
import type { Challenge } from '../payment/records.js'
import { addressWord, bytes32Word, readWords, uintWord } from './abi-words.js'

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
    const { timestamp, number, chainId, permits, balances } = wellFormed('eth_call', () =>
      readLens(resultOf('eth_call', answer)),
    )
    if (chainId !== BigInt(deps.chainId)) {
      throw new SvcError('wrong_chain', `the RPC answers for chain ${chainId}, not ${deps.chainId}`)
    }
    viewedAt = { timestamp, number }
    return { timestamp, permits, balances }
  }

  return {
    /** Reads the balances of burn addresses, for callers that combine it with others in one round trip. */
    balancesCall: (addresses: readonly Address[]) => callOf(token, helper, [], addresses),
    readBalances: read,
    async permits(queries: readonly PermitQuery[]): Promise<readonly PermitChainFacts[]> {
      const [answer] = await rpc.batch([callOf(token, helper, queries, [])])
      const { timestamp, permits } = read(answer)
      return permits.map((facts) => ({ timestamp, ...facts }))
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
  const data = `${paymentLensBytecode}${lensArguments(token, helper, permits, burnAddresses)}`
  return { method: 'eth_call', params: [{ data }, 'latest'] }
}

/** Words of one query, and of the facts that answer it. */
const queryWords = 4
const factWords = 5
/** Words before the lists. */
const argumentWords = 4

export function lensArguments(
  token: Address,
  helper: Address,
  permits: readonly PermitQuery[],
  burnAddresses: readonly Address[],
): string {
  const addressesAt = argumentWords + 1 + queryWords * permits.length
  const queries = permits.map(
    ({ payer, burnAddress, value, challengeNonce }) =>
      addressWord(payer) + addressWord(burnAddress) + uintWord(value) + bytes32Word(challengeNonce),
  )
  return [
    addressWord(token) + addressWord(helper),
    uintWord(32 * argumentWords) + uintWord(32 * addressesAt),
    uintWord(permits.length),
    ...queries,
    uintWord(burnAddresses.length),
    ...burnAddresses.map(addressWord),
  ].join('')
}

/** Reads the answer of the lens. Throws where it is none. */
export function readLens(data: unknown) {
  const words = readWords(data)
  const permitsAt = words.placeAt(3, 0)
  const balancesAt = words.placeAt(4, 0)
  const permits = Array.from({ length: words.lengthAt(permitsAt, factWords) }, (_, i) => {
    const at = permitsAt + 1 + factWords * i
    return {
      permitNonce: words.uint(at),
      balance: words.uint(at + 1),
      allowance: words.uint(at + 2),
      executed: words.flag(at + 3),
      payerIsContract: words.small(at + 4) === contractCode,
    }
  })
  const balances = Array.from({ length: words.lengthAt(balancesAt, 1) }, (_, i) =>
    words.uint(balancesAt + 1 + i),
  )
  return {
    timestamp: words.small(0) as UnixSeconds,
    number: words.uint(1),
    chainId: words.uint(2),
    permits,
    balances,
  }
}

/** Facts that must be known before anything can be served. */
export async function readDeployment(
  rpc: JsonRpc,
  token: Address,
): Promise<{ chainId: number; tokenName: string; headNumber: bigint }> {
  const { method, params } = callOf(token, zeroAddress, [], [])
  const data = (await rpc.call(method, params)) as Hex
  const result = wellFormed('eth_call', () =>
    decodeFunctionResult({ abi: paymentLensAbi, functionName: 'read', data }),
  )
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

/** The token's symbol and decimals, which only people read. Undefined when it does not tell, or nonsense. */
export async function readTokenLabel(rpc: JsonRpc, token: Address): Promise<TokenLabel | undefined> {
  try {
    const read = (functionName: 'symbol' | 'decimals') => ({
      method: 'eth_call',
      params: [{ to: token, data: encodeFunctionData({ abi: tokenAbi, functionName }) }, 'latest'],
    })
    const [symbol, decimals] = await Promise.all(
      [read('symbol'), read('decimals')].map(({ method, params }) => rpc.call(method, params)),
    )
    const label = {
      symbol: decodeFunctionResult({ abi: tokenAbi, functionName: 'symbol', data: symbol as Hex }),
      decimals: decodeFunctionResult({ abi: tokenAbi, functionName: 'decimals', data: decimals as Hex }),
    }
    return areDecimals(label.decimals) ? label : undefined
  } catch {
    return undefined
  }
}
