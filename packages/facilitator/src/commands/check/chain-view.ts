/** Reads the chain for a check. Calls made at the same time share one round trip. */
import { type JsonRpc, quantityOf, type RpcAnswer, type RpcCall, resultOf } from '@svc-zerc20/evm'
import type { Address } from '@svc-zerc20/protocol'
import type { Abi, ContractFunctionArgs, ContractFunctionName, ContractFunctionReturnType, Hex } from 'viem'
import { decodeFunctionResult, encodeFunctionData } from 'viem/utils'
import { createCoalescer } from '../../chain/coalesce.js'
import { limits } from '../../config/limits.js'

type View = 'view' | 'pure'

export type ChainView = {
  /** The node's result. Throws when the round trip fails or the node refuses. */
  ask(method: string, params: readonly unknown[]): Promise<unknown>
  /** The node's result, which must be a number. Throws as `ask` does. */
  quantity(method: string, params: readonly unknown[]): Promise<bigint>
  /** The code at an address, read once; `0x` where there is none. */
  code(address: Address): Promise<Hex>
  /** Whether the address is a contract. An account that delegated its code (EIP-7702) does not count. */
  hasCode(address: Address): Promise<boolean>
  /** A contract's answer; `undefined` when it reverts or the answer does not decode. */
  read<const A extends Abi, Name extends ContractFunctionName<A, View>>(
    address: Address,
    abi: A,
    name: Name,
    args: ContractFunctionArgs<A, View, Name>,
  ): Promise<ContractFunctionReturnType<A, View, Name> | undefined>
}

const delegationPrefix = '0xef0100'

export function createChainView(rpc: JsonRpc): ChainView {
  const calls = createCoalescer<RpcCall, RpcAnswer>({
    run: (questions) => rpc.batch(questions),
    batchMax: limits.checkCallsPerBatch,
    inFlightMax: 1,
  })

  const codes = new Map<Address, Promise<Hex>>()
  const askCode = async (address: Address): Promise<Hex> => {
    const method = 'eth_getCode'
    const code = resultOf(method, await calls.ask({ method, params: [address, 'latest'] }))
    return typeof code === 'string' ? (code as Hex) : '0x'
  }
  const code = (address: Address): Promise<Hex> => {
    const known = codes.get(address) ?? askCode(address)
    codes.set(address, known)
    return known
  }

  return {
    code,

    async ask(method, params) {
      return resultOf(method, await calls.ask({ method, params }))
    },

    async quantity(method, params) {
      return quantityOf(method, await calls.ask({ method, params }))
    },

    async hasCode(address) {
      const found = await code(address)
      return found.length > 2 && !found.startsWith(delegationPrefix)
    },

    async read(address, abi, name, args) {
      const data = encodeFunctionData({
        abi: abi as Abi,
        functionName: name as string,
        args: args as readonly unknown[],
      })
      const answer = await calls.ask({ method: 'eth_call', params: [{ to: address, data }, 'latest'] })
      if (!('result' in answer)) return undefined
      try {
        const value = decodeFunctionResult({
          abi: abi as Abi,
          functionName: name as string,
          data: answer.result as Hex,
        })
        return value as ContractFunctionReturnType<typeof abi, View, typeof name>
      } catch {
        // The address holds another contract, so there is no answer to this question.
        return undefined
      }
    },
  }
}
