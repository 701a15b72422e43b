/** Finds the burn that the permit burner's replay ledger speaks of, by its event. */
import { permitBurnerAbi } from '@svc-zerc20/contracts'
import { type JsonRpc, parseReceipt, resultOf, scanLogs } from '@svc-zerc20/evm'
import type { Address } from '@svc-zerc20/protocol'
import { encodeEventTopics } from 'viem/utils'
import type { Chain } from '../payment/ports.js'
import { burnsIn } from './burn-logs.js'
import type { ChainHead } from './head.js'

export function createFindExecutedBurn(deps: {
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
        const burn = receipt && burnsIn(receipt, token)(challenge)
        if (burn) return burn
      }
    }
    return undefined
  }
}
