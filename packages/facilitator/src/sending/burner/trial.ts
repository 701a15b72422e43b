/** Tries a batch of burns at the newest block, in one `eth_call` that changes nothing. */
import { burnTrialAbi, burnTrialBytecode } from '@svc-zerc20/contracts'
import { type JsonRpc, resultOf, wellFormed } from '@svc-zerc20/evm'
import type { Address, UnixSeconds } from '@svc-zerc20/protocol'
import type { Hex } from 'viem'
import { decodeFunctionResult, encodeDeployData } from 'viem/utils'
import type { LensBlock } from '../../chain/lens.js'
import { type BatchItem, toRequest } from './call.js'

export type Trial = {
  readonly at: LensBlock
  /** One per burn, in order: the revert data of those that would fail. */
  readonly refusals: readonly (Hex | undefined)[]
}

export type BurnTrial = (items: readonly BatchItem[]) => Promise<Trial>

export function createBurnTrial(deps: {
  rpc: Pick<JsonRpc, 'batch'>
  token: Address
  helper: Address
}): BurnTrial {
  return async (items) => {
    const data = encodeDeployData({
      abi: burnTrialAbi,
      bytecode: burnTrialBytecode,
      args: [deps.helper, items.map((item) => toRequest(item, deps.token))],
    })
    const [answer] = await deps.rpc.batch([{ method: 'eth_call', params: [{ data }, 'latest'] }])
    const [timestamp, number, outcomes] = wellFormed('eth_call', () =>
      decodeFunctionResult({
        abi: burnTrialAbi,
        functionName: 'run',
        data: resultOf('eth_call', answer) as Hex,
      }),
    )
    return {
      at: { timestamp: Number(timestamp) as UnixSeconds, number },
      refusals: outcomes.map(({ executed, reason }) => (executed ? undefined : reason)),
    }
  }
}
