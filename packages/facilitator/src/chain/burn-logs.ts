/** Reads the logs a burn leaves, the token's transfer and the helper's verdict, and the one a mint leaves. */
import { type ChainLog, isEventOf, type Receipt, transfersIn, wellFormed } from '@svc-zerc20/evm'
import { type Address, type BaseUnits, type ChallengeNonce, parseChallengeNonce } from '@svc-zerc20/protocol'
import type { Hex } from 'viem'
import { decodeAbiParameters, toEventSelector } from 'viem/utils'
import type { Burn, Challenge } from '../payment/records.js'

export const burnExecutedTopic = toEventSelector('BurnExecuted(bytes32,address,address,address,uint256)')
const teleportTopic = toEventSelector('Teleport(address,uint256)')
const burnFailedTopic = toEventSelector('BurnFailed(bytes32,bytes)')
const teleportData = [{ type: 'uint256' }] as const
const failureData = [{ type: 'bytes' }] as const

const readLogs = <T>(read: () => T): T => wellFormed('eth_getTransactionReceipt', read)

/**
 * Finds the burn of a challenge among a successful transaction's logs. The logs are read once, however many
 * challenges of a batch are asked for.
 */
export function burnsIn(receipt: Receipt, token: Address): (challenge: Challenge) => Burn | undefined {
  const transfers = receipt.succeeded ? transfersIn(receipt.logs, token) : []
  const { transactionHash: txHash, blockNumber, blockHash } = receipt
  return (challenge) => {
    const transfer = transfers.find(({ to, value }) => to === challenge.payTo && value >= challenge.amount)
    if (!transfer) return undefined
    const { leafIndex, from, value } = transfer
    return { txHash, blockNumber, blockHash, leafIndex, from, value }
  }
}

/** The value that the token created in a transaction, whoever got it. */
export function mintedIn({ logs }: Receipt, token: Address): BaseUnits {
  const teleports = readLogs(() => logs.filter((log) => isEventOf(log, token, teleportTopic)))
  const values = teleports.map(({ data }) =>
    readLogs(() => decodeAbiParameters(teleportData, data as Hex)[0]),
  )
  return values.reduce((sum, value) => sum + value, 0n) as BaseUnits
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
