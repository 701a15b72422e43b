/**
 * Reads from the chain whether a promised burn exists. A seller's word proves neither that it does nor that
 * it does not.
 */
import { permitBurnerAbi } from '@svc-zerc20/contracts'
import type { ChallengeNonce } from '@svc-zerc20/protocol'
import { type Address, type PublicClient, parseTransaction } from 'viem'
import type { BurnState, ReadBurnState, SignedTransfer } from '../totals/burn-state.js'
import type { Reservation } from '../totals/spend-state.js'

/**
 * Seconds that the chain's clock must be past a deadline before the deadline counts. A short reorg could set
 * the clock back.
 */
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
    // The deadline is checked against block time, so our own clock does not count here.
    return block.timestamp > BigInt(deadline) + settledSeconds ? 'absent' : 'unknown'
  }

  async function transferState({ hash, raw }: SignedTransfer, payer: string): Promise<BurnState> {
    const receipt = await client.request({ method: 'eth_getTransactionReceipt', params: [hash] })
    if (receipt !== null) return receipt.status === '0x1' ? 'burned' : 'absent'
    const { nonce = 0 } = parseTransaction(raw)
    const used = await client.getTransactionCount({ address: payer as Address, blockTag: 'latest' })
    // While the nonce is unused, the transfer can still be mined. Once it is used, a second look at the
    // receipt tells whether this transfer or another transaction used it.
    if (used <= nonce) return 'unknown'
    const later = await client.request({ method: 'eth_getTransactionReceipt', params: [hash] })
    if (later === null) return 'absent'
    return later.status === '0x1' ? 'burned' : 'absent'
  }

  return async (challengeNonce, reservation, transfer) => {
    try {
      await checkChain()
      if (reservation.way === 'permit') return await permitState(challengeNonce, reservation)
      // A transfer is stored before it is sent. No stored transfer means that none was sent.
      return transfer ? await transferState(transfer, reservation.payer) : 'absent'
    } catch {
      return 'unknown'
    }
  }
}
