/**
 * Reads from the chain whether a promised burn exists. A seller's word proves neither that it does nor that
 * it does not.
 */
import { permitBurnerAbi } from '@svc-zerc20/contracts'
import type { ChallengeNonce } from '@svc-zerc20/protocol'
import { type Address, type PublicClient, parseTransaction } from 'viem'
import type { PayerLimits } from '../limits.js'
import type { BurnState, PromisedBurn, ReadBurnState, SignedTransfer } from '../totals/burn-state.js'

/**
 * Seconds that the chain's clock must be past a deadline before the deadline counts. A short reorg could set
 * the clock back.
 */
const settledSeconds = 60n

export type BurnReads = {
  /** Whether a promised burn exists, or can no longer come. */
  readonly burnState: ReadBurnState
  /** The same for a signed transfer of an account. */
  transferState(transfer: SignedTransfer, payer: string): Promise<BurnState>
}

export function createBurnReads(
  client: PublicClient,
  checkChain: () => Promise<void>,
  limits: Pick<PayerLimits, 'settledBlocks'>,
): BurnReads {
  async function permitState(challengeNonce: ChallengeNonce, reservation: PromisedBurn): Promise<BurnState> {
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
    const deep = (await client.getBlockNumber({ cacheTime: 0 })) - BigInt(limits.settledBlocks)
    const { nonce = 0 } = parseTransaction(raw)
    // While its txNonce is unused, the transfer can still be mined. A use that is not deep can be undone.
    const used =
      deep < 0n ? 0 : await client.getTransactionCount({ address: payer as Address, blockNumber: deep })
    // Read last: if the txNonce was used by then, the receipt tells whether this transfer used it.
    const receipt = await client.request({ method: 'eth_getTransactionReceipt', params: [hash] })
    if (receipt?.status === '0x1') return 'burned'
    return used > nonce ? 'absent' : 'unknown'
  }

  const orUnknown = async (read: () => Promise<BurnState>): Promise<BurnState> => {
    try {
      await checkChain()
      return await read()
    } catch {
      return 'unknown'
    }
  }

  return {
    burnState: (challengeNonce, reservation, transfer) =>
      orUnknown(async () => {
        if (reservation.way === 'permit') return permitState(challengeNonce, reservation)
        // A transfer is stored before it is sent. No stored transfer means that none was sent.
        return transfer ? transferState(transfer, reservation.payer) : 'absent'
      }),
    transferState: (transfer, payer) => orUnknown(() => transferState(transfer, payer)),
  }
}
