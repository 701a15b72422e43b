/** Whether money that was promised is gone. Read from the chain, because a seller's word is not enough for either. */
import { permitBurnerAbi } from '@svc-zerc20/contracts'
import type { ChallengeNonce } from '@svc-zerc20/protocol'
import { type Address, type PublicClient, parseTransaction } from 'viem'
import type { BurnState, ReadBurnState, SignedTransfer } from '../totals/burn-state.js'
import type { Reservation } from '../totals/spend-state.js'

/** How far the chain's clock must be past a deadline, so that a short reorganisation does not bring it back. */
const settledSeconds = 60n

export function createReadBurnState(client: PublicClient, checkChain: () => Promise<void>): ReadBurnState {
  async function permitState(challengeNonce: ChallengeNonce, reservation: Reservation): Promise<BurnState> {
    const { helper, deadline, token, payer, payTo, amount } = reservation
    if (helper === undefined || deadline === undefined) return 'unknown'
    const block = await client.getBlock({ blockTag: 'latest' })
    const isExecuted = await client.readContract({
      address: helper as Address,
      abi: permitBurnerAbi,
      functionName: 'executed',
      args: [token as Address, payer as Address, payTo as Address, BigInt(amount), challengeNonce],
      blockNumber: block.number,
    })
    if (isExecuted) return 'burned'
    // By the chain's clock and not by ours: it is the one that the deadline is held against.
    return block.timestamp > BigInt(deadline) + settledSeconds ? 'absent' : 'unknown'
  }

  async function transferState({ hash, raw }: SignedTransfer, payer: string): Promise<BurnState> {
    const receipt = await client.request({ method: 'eth_getTransactionReceipt', params: [hash] })
    if (receipt !== null) return receipt.status === '0x1' ? 'burned' : 'absent'
    const { nonce = 0 } = parseTransaction(raw)
    const used = await client.getTransactionCount({ address: payer as Address, blockTag: 'latest' })
    // Another transaction with its nonce was mined, so that this one never will be.
    if (used <= nonce) return 'unknown'
    const later = await client.request({ method: 'eth_getTransactionReceipt', params: [hash] })
    if (later === null) return 'absent'
    return later.status === '0x1' ? 'burned' : 'absent'
  }

  return async (challengeNonce, reservation, transfer) => {
    try {
      await checkChain()
      if (reservation.way === 'permit') return await permitState(challengeNonce, reservation)
      // The transfer is stored before it is sent: without one nothing was.
      return transfer ? await transferState(transfer, reservation.payer) : 'absent'
    } catch {
      return 'unknown'
    }
  }
}
