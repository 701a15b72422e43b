/**
 * Reads from the chain whether a burn exists. A seller's word proves neither that it does nor that it does not, and nothing
 * that a seller says of a burn is passed on unseen.
 */
import { permitBurnerAbi, tokenAbi } from '@svc-zerc20/contracts'
import { type ChallengeNonce, type Clock, inTime, parseTxHash, type TxHash } from '@svc-zerc20/protocol'
import {
  type Address,
  BaseError,
  ContractFunctionRevertedError,
  ContractFunctionZeroDataError,
  type Log,
  type PublicClient,
  parseAbi,
  parseEventLogs,
  parseTransaction,
  recoverTransactionAddress,
  type TransactionSerialized,
} from 'viem'
import type { PayerLimits } from '../limits.js'
import { type BurnVerdict, judgeBurn, type PermitFacts, type TransferFacts } from '../state/burn-verdict.js'
import { isSigned, type PaymentRecord } from '../state/payments.js'
import type { PromisedBurn, ReadBurnState, SignedTransfer } from '../state/reconcile.js'

const transferAbi = parseAbi(['event Transfer(address indexed from, address indexed to, uint256 value)'])

export type Burns = {
  /** What became of a promised burn. */
  readonly burnState: ReadBurnState
  /** What became of the burn of a payment, and what it needs while it may still come. */
  verdictOf(record: PaymentRecord): Promise<BurnVerdict>
  /** The hash of a payment's burn: our own transfer, or the one that a seller names and the chain has. */
  burnOf(record: PaymentRecord, named: string | undefined): Promise<TxHash | undefined>
}

export function createBurns(
  client: PublicClient,
  {
    checkChain,
    payer,
    isReplaced,
    clock,
    limits,
  }: {
    readonly checkChain: () => Promise<void>
    readonly payer: string
    /** Whether another transfer with the txNonce of a payment's own counts as spent. */
    readonly isReplaced: (challengeNonce: ChallengeNonce) => Promise<boolean>
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

  /** Looks for a burn that a seller names, again and again while the chain does not have it. */
  async function search(hash: TxHash, accepted: PaymentRecord['accepted']): Promise<boolean | undefined> {
    const untilMs = clock.now() + limits.burnSearchMsMax
    for (;;) {
      const isBurn = await asked(() => readNamed(client, hash, accepted))
      if (isBurn !== undefined || clock.now() >= untilMs) return isBurn
      await clock.sleep(limits.receiptPollMs)
    }
  }

  return {
    async burnState(challengeNonce, promised, transfer) {
      // A transfer is stored before it is sent. No stored transfer means that none was sent.
      if (promised.way === 'self-transfer' && !transfer) return 'absent'
      const facts = await asked(async () =>
        transfer && promised.way === 'self-transfer'
          ? readTransfer(client, transfer, promised, limits.settledBlocks)
          : readPermit(client, challengeNonce, promised),
      )
      return judgeBurn(facts).state
    },

    async verdictOf(record) {
      if (!isSigned(record)) return { state: 'absent' }
      const { challengeNonce, burn, payload, accepted } = record
      const { asset: token, payTo, amount, extra } = accepted
      const { helper, deadline } = extra
      const promised = { helper, deadline, token, payTo, amount }
      return judgeBurn(
        await asked(async () => {
          if (!burn) {
            // The account may be another one by now.
            const signer = typeof payload?.payer === 'string' ? payload.payer : payer
            return readPermit(client, challengeNonce, { ...promised, payer: signer })
          }
          const signer = await recoverTransactionAddress({
            serializedTransaction: burn.raw as TransactionSerialized,
          })
          const known = { ...promised, payer: signer, isReplaced: await isReplaced(challengeNonce) }
          return readTransfer(client, burn, known, limits.settledBlocks)
        }),
      )
    },

    async burnOf({ burn, accepted }, named) {
      if (burn) return burn.hash
      const hash = parseTxHash(named)
      if (hash === undefined) return undefined
      // A served answer waits for this, so the search ends in time even if the node's answer does not.
      const found = await inTime(search(hash, accepted), limits.burnSearchMsMax, clock)
      return found === true ? hash : undefined
    },
  }
}

/** What transactions have in common that may take the place of each other: of those with one seat one can be mined. */
export const transferSeat = (payer: string, txNonce: number) => `txNonce ${txNonce} of ${payer}`.toLowerCase()

async function readPermit(
  client: PublicClient,
  challengeNonce: ChallengeNonce,
  { helper, deadline, token, payer, payTo, amount }: Omit<PromisedBurn, 'way' | 'isReplaced'>,
): Promise<PermitFacts | undefined> {
  if (helper === undefined || deadline === undefined) return undefined
  const { number: blockNumber, timestamp } = await client.getBlock({ blockTag: 'latest' })
  const isExecuted = await client
    .readContract({
      address: helper as Address,
      abi: permitBurnerAbi,
      functionName: 'executed',
      args: [token as Address, payer as Address, payTo as Address, BigInt(amount), challengeNonce],
      blockNumber,
    })
    .catch(async (error) => {
      if (!hasNoAnswer(error)) throw error
      // A foreign helper that was pinned keeps no such book. What the burn address has tells as much.
      return (await receivedAt(client, token, payTo, blockNumber)) >= BigInt(amount)
    })
  return { way: 'permit', isExecuted, seconds: timestamp, deadline: BigInt(deadline) }
}

/** Whether a contract lacks what was called: it reverts, or returns nothing. A node that fails says neither. */
const hasNoAnswer = (error: unknown) =>
  error instanceof BaseError &&
  error.walk(
    (e) => e instanceof ContractFunctionRevertedError || e instanceof ContractFunctionZeroDataError,
  ) !== null

/** What a burn address has in a block. Nobody can take anything from there. */
const receivedAt = (client: PublicClient, token: string, payTo: string, blockNumber: bigint) =>
  client.readContract({
    address: token as Address,
    abi: tokenAbi,
    functionName: 'balanceOf',
    args: [payTo as Address],
    blockNumber,
  })

async function readTransfer(
  client: PublicClient,
  { hash, raw }: SignedTransfer,
  { payer, token, payTo, amount, isReplaced }: Omit<PromisedBurn, 'way'>,
  settledBlocks: number,
): Promise<TransferFacts> {
  const { nonce: txNonce = 0 } = parseTransaction(raw)
  const number = await client.getBlockNumber({ cacheTime: 0 })
  const deepNumber = number - BigInt(settledBlocks)
  const countAt = (blockNumber: bigint) =>
    blockNumber < 0n
      ? Promise.resolve(0)
      : client.getTransactionCount({ address: payer as Address, blockNumber })
  const [mined, deep, received] = await Promise.all([
    countAt(number),
    countAt(deepNumber),
    receivedAt(client, token, payTo, number),
  ])
  // Read last: if the txNonce was used by then, the receipt tells whether this transfer used it.
  const receipt = await client.request({ method: 'eth_getTransactionReceipt', params: [hash] })
  return {
    way: 'self-transfer',
    txNonce,
    amount: BigInt(amount),
    isReplaced: isReplaced ?? false,
    receipt: receipt === null ? 'none' : receipt.status === '0x1' ? 'success' : 'reverted',
    mined,
    deep,
    received,
    seat: transferSeat(payer, txNonce),
  }
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
