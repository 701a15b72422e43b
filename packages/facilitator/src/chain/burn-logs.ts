/** Reads the logs that a burn leaves: the token's transfer and the helper's verdict. */
import { type ChainLog, isEventOf, type Receipt, transfersIn, wellFormed } from '@svc-zerc20/evm'
import { type Address, type ChallengeNonce, parseChallengeNonce } from '@svc-zerc20/protocol'
import type { Hex } from 'viem'
import { decodeAbiParameters, toEventSelector } from 'viem/utils'
import type { Burn, Challenge } from '../payment/records.js'

const burnExecutedTopic = toEventSelector('BurnExecuted(bytes32,address,address,address,uint256)')
const burnFailedTopic = toEventSelector('BurnFailed(bytes32,bytes)')
const failureData = [{ type: 'bytes' }] as const

const readLogs = <T>(read: () => T): T => wellFormed('eth_getTransactionReceipt', read)

/** The burn of a challenge among a successful transaction's logs. */
export function burnIn(receipt: Receipt, token: Address, { payTo, amount }: Challenge): Burn | undefined {
  const { transactionHash: txHash, blockNumber, blockHash } = receipt
  const transfers = receipt.succeeded ? transfersIn(receipt.logs, token) : []
  const transfer = transfers.find(({ to, value }) => to === payTo && value >= amount)
  if (!transfer) return undefined
  const { leafIndex, from, value } = transfer
  return { txHash, blockNumber, blockHash, leafIndex, from, value }
}

export type BurnVerdict = 'executed' | { readonly reason: Hex }

/** The helper's verdict on each burn of a batch, by challenge nonce: executed, or why not (raw revert data). */
export function verdictsIn(receipt: Receipt, helper: Address): Map<ChallengeNonce, BurnVerdict> {
  const verdicts = new Map<ChallengeNonce, BurnVerdict>()
  for (const log of receipt.logs) {
    const nonce = parseChallengeNonce(log.topics[1])
    const verdict = readLogs(() => verdictIn(log, helper))
    if (nonce !== undefined && verdict !== undefined) verdicts.set(nonce, verdict)
  }
  return verdicts
}

function verdictIn(log: ChainLog, helper: Address): BurnVerdict | undefined {
  if (isEventOf(log, helper, burnExecutedTopic)) return 'executed'
  if (!isEventOf(log, helper, burnFailedTopic)) return undefined
  const [reason] = decodeAbiParameters(failureData, log.data as Hex)
  return { reason }
}
