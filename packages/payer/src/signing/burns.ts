/**
 * Reads from the chain whether a burn exists. A seller's word proves neither that it does nor that it does not, and nothing
 * that a seller says of a burn is passed on unseen.
 */
import { permitBurnerAbi } from '@svc-zerc20/contracts'
import { type ChallengeNonce, type Clock, parseTxHash, type TxHash } from '@svc-zerc20/protocol'
import { type Address, type Log, type PublicClient, parseAbi, parseEventLogs, parseTransaction } from 'viem'
import type { PayerLimits } from '../limits.js'
import type { PaymentRecord } from '../state/payments.js'
import type { BurnState, PromisedBurn, ReadBurnState, SignedTransfer } from '../state/reconcile.js'

/**
 * Seconds that the chain's clock must be past a deadline before the deadline counts. A short reorg could set
 * the clock back.
 */
const settledSeconds = 60n

const transferAbi = parseAbi(['event Transfer(address indexed from, address indexed to, uint256 value)'])

export type Burns = {
  /** Whether a promised burn exists, or can no longer come. */
  readonly burnState: ReadBurnState
  /** Whether a signed transfer of an account exists, or can no longer come. */
  transferState(transfer: SignedTransfer, payer: string): Promise<BurnState>
  /**
   * Whether no block up to this second has a signed transfer. False while the node does not answer, or may lag behind.
   */
  isMissed(transfer: SignedTransfer, expiresAt: number): Promise<boolean>
  /** The hash of a payment's burn: our own transfer, or the one that a seller names and the chain has. */
  burnOf(record: PaymentRecord, named: string | undefined): Promise<TxHash | undefined>
  /** Whether the chain has the burn of a payment. */
  isBurned(record: PaymentRecord): Promise<boolean>
}

export function createBurns(
  client: PublicClient,
  {
    checkChain,
    payer,
    clock,
    limits,
  }: {
    readonly checkChain: () => Promise<void>
    readonly payer: string
    readonly clock: Clock
    readonly limits: Pick<PayerLimits, 'settledBlocks' | 'burnSearchMsMax' | 'receiptPollMs'>
  },
): Burns {
  /** Undefined when the chain cannot be asked. */
  const asked = async <T>(read: () => Promise<T>): Promise<T | undefined> => {
    try {
      await checkChain()
      return await read()
    } catch {
      return undefined
    }
  }

  const transferState: Burns['transferState'] = async (transfer, from) =>
    (await asked(() => readTransfer(client, transfer, from, limits.settledBlocks))) ?? 'unknown'

  const burnState: ReadBurnState = async (challengeNonce, promised, transfer) => {
    if (promised.way === 'permit')
      return (await asked(() => readPermit(client, challengeNonce, promised))) ?? 'unknown'
    // A transfer is stored before it is sent. No stored transfer means that none was sent.
    return transfer ? transferState(transfer, promised.payer) : 'absent'
  }

  return {
    burnState,
    transferState,

    isMissed: async ({ hash }, expiresAt) =>
      (await asked(() => readMissed(client, hash, expiresAt))) ?? false,

    async burnOf({ burn, accepted }, named) {
      if (burn) return burn.hash
      const hash = parseTxHash(named)
      if (hash === undefined) return undefined
      const untilMs = clock.now() + limits.burnSearchMsMax
      for (;;) {
        const isBurn = await asked(() => readNamed(client, hash, accepted))
        if (isBurn !== undefined) return isBurn ? hash : undefined
        if (clock.now() >= untilMs) return undefined
        await clock.sleep(limits.receiptPollMs)
      }
    },

    async isBurned({ challengeNonce, burn, accepted }) {
      const { asset: token, payTo, amount, extra } = accepted
      const { helper, deadline } = extra
      const way = burn ? 'self-transfer' : 'permit'
      const promised = { way, helper, deadline, token, payer, payTo, amount } as const
      return (await burnState(challengeNonce, promised, burn)) === 'burned'
    },
  }
}

async function readPermit(
  client: PublicClient,
  challengeNonce: ChallengeNonce,
  { helper, deadline, token, payer, payTo, amount }: PromisedBurn,
): Promise<BurnState> {
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

async function readTransfer(
  client: PublicClient,
  { hash, raw }: SignedTransfer,
  payer: string,
  settledBlocks: number,
): Promise<BurnState> {
  const deep = (await client.getBlockNumber({ cacheTime: 0 })) - BigInt(settledBlocks)
  const { nonce = 0 } = parseTransaction(raw)
  // While its txNonce is unused, the transfer can still be mined. A use that is not deep can be undone.
  const used =
    deep < 0n ? 0 : await client.getTransactionCount({ address: payer as Address, blockNumber: deep })
  // Read last: if the txNonce was used by then, the receipt tells whether this transfer used it.
  const receipt = await client.request({ method: 'eth_getTransactionReceipt', params: [hash] })
  if (receipt?.status === '0x1') return 'burned'
  return used > nonce ? 'absent' : 'unknown'
}

async function readMissed(client: PublicClient, hash: TxHash, expiresAt: number): Promise<boolean> {
  const block = await client.getBlock({ blockTag: 'latest' })
  if (block.timestamp <= BigInt(expiresAt) + settledSeconds) return false
  return (await client.request({ method: 'eth_getTransactionReceipt', params: [hash] })) === null
}

/** Whether a transaction that somebody names burned for an offer. Undefined while the chain does not have it. */
async function readNamed(
  client: PublicClient,
  hash: TxHash,
  { asset, payTo, amount }: PaymentRecord['accepted'],
): Promise<boolean | undefined> {
  const receipt = await client.request({ method: 'eth_getTransactionReceipt', params: [hash] })
  if (receipt === null) return undefined
  const isSame = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()
  const logs = receipt.logs.filter(({ address }) => isSame(address, asset)) as unknown as Log[]
  return (
    receipt.status === '0x1' &&
    parseEventLogs({ abi: transferAbi, logs }).some(
      ({ args }) => isSame(args.to, payTo) && args.value >= BigInt(amount),
    )
  )
}
