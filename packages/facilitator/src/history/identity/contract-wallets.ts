/** Contract wallets: they have no key, so they are asked on chain whether a signature is theirs (ERC-1271). */
import type { JsonRpc, RpcAnswer } from '@svc-zerc20/evm'
import type { Address, Clock } from '@svc-zerc20/protocol'
import type { Hex } from 'viem'
import { encodeFunctionData, numberToHex } from 'viem/utils'
import { limits } from '../../config/limits.js'

const abi = [
  {
    type: 'function',
    name: 'isValidSignature',
    stateMutability: 'view',
    inputs: [
      { name: 'hash', type: 'bytes32' },
      { name: 'signature', type: 'bytes' },
    ],
    outputs: [{ name: 'magicValue', type: 'bytes4' }],
  },
] as const

/** The selector of the function, as ERC-1271 wants it, in exactly one word. */
const yes = `0x1626ba7e${'0'.repeat(56)}`

/** Enough for a signature by several owners or by a passkey, and little enough for any node. */
const callGas = 2_000_000

export function createContractWallets(deps: {
  readonly rpc: Pick<JsonRpc, 'batch'>
  readonly addresses: readonly Address[]
  readonly clock: Pick<Clock, 'now'>
}) {
  const { rpc, addresses, clock } = deps
  /** The last time at which no wallet was a contract. */
  let emptyAtMs = Number.NEGATIVE_INFINITY
  return {
    /**
     * The wallets that call the signature theirs, now. All are asked, whoever logs in, so that the time taken does not
     * tell which addresses are configured. While none of them is a contract, they are asked once in a while only. Throws
     * `SvcError('rpc_unreachable')` when the node does not answer.
     */
    async walletsThatAccept(digest: Hex, signature: Hex): Promise<readonly Address[]> {
      const emptyForMs = clock.now() - emptyAtMs
      if (emptyForMs >= 0 && emptyForMs < limits.emptyWalletsMs) return []
      const data = encodeFunctionData({ abi, functionName: 'isValidSignature', args: [digest, signature] })
      const answers = await rpc.batch(
        addresses.map((to) => ({
          method: 'eth_call',
          params: [{ to, data, gas: numberToHex(callGas) }, 'latest'],
        })),
      )
      if (answers.every(isEmpty)) emptyAtMs = clock.now()
      return addresses.filter((_, i) => saysYes(answers[i]))
    },
  }
}

/** The answer of an account without code. */
const isEmpty = (answer: RpcAnswer): boolean => 'result' in answer && answer.result === '0x'

/** An account without code answers with nothing, a wallet that refuses with anything, or by a revert. */
const saysYes = (answer: RpcAnswer | undefined): boolean =>
  answer !== undefined && 'result' in answer && answer.result === yes
