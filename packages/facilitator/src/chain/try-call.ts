/** Tries a call before it is sent: a transaction that reverts costs gas and brings nothing. */
import type { JsonRpc } from '@svc-zerc20/evm'
import { type Address, SvcError } from '@svc-zerc20/protocol'
import type { Hex } from 'viem'
import { toHex } from 'viem/utils'

/** Why the call would revert now; undefined when it would succeed. Throws `SvcError('rpc_error')` when the node does not tell. */
export async function tryCall(
  rpc: Pick<JsonRpc, 'batch'>,
  call: { readonly from: Address; readonly to: Address; readonly data: Hex; readonly gas: bigint },
): Promise<SvcError | undefined> {
  const [answer] = await rpc.batch([
    { method: 'eth_call', params: [{ ...call, gas: toHex(call.gas) }, 'latest'] },
  ])
  if (!answer || 'result' in answer) return undefined
  const { code, message } = answer.error
  const err = new SvcError('rpc_error', `eth_call: ${message}`, { cause: answer.error })
  if (code !== executionReverted && !/revert/i.test(message)) throw err
  return err
}

/** The error code of nodes for an `eth_call` that the contract refused. */
const executionReverted = 3
