/**
 * A reorg takes the transfer that was presented back into the mempool, and the payer's wallet replaces it there by one
 * with a higher fee. Both are real: the same account, the same nonce, two hashes.
 */

import { tokenAbi } from '@svc-zerc20/contracts'
import { createJsonRpc } from '@svc-zerc20/evm'
import type { Address, ChallengeNonce, TxHash } from '@svc-zerc20/protocol'
import { type Hex, parseGwei } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { until } from '../../../../../test/support/until.js'
import { challengeOf, seconds, units } from '../../../test/challenges.js'
import { createMemoryLedger } from '../../../test/ledger.js'
import { startNetwork, type TestNetwork } from '../../../test/network.js'
import { bodyOf, type ChallengeOffer } from '../../../test/payment.js'
import { createChain } from '../../chain/chain.js'
import { createRereadBurn } from '../../chain/reread-burn.js'
import { limits } from '../../config/limits.js'
import type { Burn } from '../records.js'
import { replaceClaimed } from './replace-claimed.js'

const depth = 3

let net: TestNetwork
let payer: PrivateKeyAccount
beforeAll(async () => {
  net = await startNetwork({
    config: { daemon: { follow_interval_ms: 1_000 }, settlement: { confirmations: depth } },
  })
})
beforeEach(async () => {
  payer = await net.account({ gas: true })
})
afterEach(() => net.chain.resumeMining())
afterAll(() => net.close())

const hasReceipt = (hash: Hex) =>
  net.client.getTransactionReceipt({ hash }).then(
    () => true,
    () => false,
  )

/** Sends a transfer with its own nonce and fee, and does not wait for its block. */
const sendTransfer = (payTo: Hex, amount: string, nonce: number, gwei: string): Promise<Hex> =>
  net.walletOf(payer).writeContract({
    address: net.deployment.token,
    abi: tokenAbi,
    functionName: 'transfer',
    args: [payTo, BigInt(amount)],
    nonce,
    // Estimated on top of the transfer that is replaced, a first transfer to an address would look too cheap.
    gas: 200_000n,
    maxFeePerGas: parseGwei(gwei),
    maxPriorityFeePerGas: parseGwei(gwei),
  })

/** A transfer in the newest block. */
async function transferFirst({ payTo, amount }: ChallengeOffer) {
  const nonce = await net.client.getTransactionCount({ address: payer.address })
  const first = await sendTransfer(payTo, amount, nonce, '20')
  await until(() => hasReceipt(first))
  return { first, nonce }
}

/** The newest block loses the first transfer. The second takes its place in the mempool, and then in a block. */
async function replaceByFee({ payTo, amount }: ChallengeOffer, first: Hex, nonce: number): Promise<Hex> {
  await net.chain.pauseMining()
  const { transactions } = await net.chain.reorg(1, { keepTransactions: true })
  expect(transactions).toEqual([first])
  const second = await sendTransfer(payTo, amount, nonce, '40')
  await net.chain.mine()
  expect([await hasReceipt(first), await hasReceipt(second)]).toEqual([false, true])
  return second
}

const statusOf = async ({ challengeNonce }: ChallengeOffer) => (await net.status(challengeNonce)).body

describe('a transfer that was presented before a reorg took it', () => {
  it('is paid for by the one that replaced it, once that is deep, and served once', async () => {
    const offer = await net.challenge()
    const { first, nonce } = await transferFirst(offer)
    const { challengeNonce } = offer
    const body = bodyOf(offer, { challengeNonce, burnTxHash: first })
    expect((await net.settle(body)).body).toMatchObject({ success: false, errorReason: 'pending_burn' })
    const second = await replaceByFee(offer, first, nonce)
    await net.chain.mine(depth - 2)
    expect(await statusOf(offer)).toMatchObject({ phase: 'open' })
    await net.chain.mine()
    await until(async () => (await statusOf(offer)).phase === 'accepted')
    expect(await statusOf(offer)).toMatchObject({ transaction: second })
    expect(net.events).toContainEqual(
      expect.objectContaining({ event: 'payment.accepted', challengeNonce, txHash: second }),
    )
    // The payer that presented the first transfer asks again with the same payload.
    expect((await net.settle(body)).body).toMatchObject({ success: true, transaction: second })
    expect((await net.settle(body)).body).toMatchObject({ success: false, errorReason: 'already_accepted' })
  })
})

describe('a claimed transfer that is gone', () => {
  it('is replaced neither by one that is not deep, nor by one that another reorg took or moved', async () => {
    const offer = await net.challenge()
    const { first, nonce } = await transferFirst(offer)
    const second = await replaceByFee(offer, first, nonce)
    const { replace, accepted } = await claimedBy(offer, first)
    const found = await burnOf(second)
    expect(await replace(found)).toBe(false)
    await net.chain.mine(depth - 1)

    await net.chain.reorg(depth, { keepTransactions: true })
    expect(await replace(found)).toBe(false)
    await net.chain.mine(depth)
    // A block holds it again, as deep as before, but it is not the block in which it was found.
    expect(await replace(found)).toBe(false)
    expect(await accepted()).toBeUndefined()
    const moved = await burnOf(second)
    expect(await replace(moved)).toBe(true)
    expect(await accepted()).toEqual(moved)
  })

  it('is replaced by nothing while a block holds it', async () => {
    const offer = await net.challenge()
    const { first, nonce } = await transferFirst(offer)
    const { replace } = await claimedBy(offer, first)
    const other = await sendTransfer(offer.payTo, offer.amount, nonce + 1, '20')
    await until(() => hasReceipt(other))
    await net.chain.mine(depth)
    expect(await replace(await burnOf(other))).toBe(false)
  })
})

/** The transfer as the token's event tells it now. */
async function burnOf(transactionHash: Hex): Promise<Burn> {
  const { blockNumber, blockHash } = await net.client.getTransactionReceipt({ hash: transactionHash })
  const token = { address: net.deployment.token, abi: tokenAbi }
  const inBlock = { fromBlock: blockNumber, toBlock: blockNumber }
  const events = await net.client.getContractEvents({ ...token, eventName: 'IndexedTransfer', ...inBlock })
  const { index, from, value } = events.find((event) => event.transactionHash === transactionHash)?.args ?? {}
  return { txHash: transactionHash, blockNumber, blockHash, leafIndex: index, from, value } as Burn
}

/** A ledger of the test's own, in which the transfer was presented; the chain is read as the daemon reads it. */
async function claimedBy({ challengeNonce, payTo, amount, expiresAt }: ChallengeOffer, txHash: Hex) {
  const ledger = createMemoryLedger({ clock: net.clock, openMax: 1, expiredRetentionSeconds: 3600 })
  const challenge = challengeOf(1, {
    nonce: challengeNonce as ChallengeNonce,
    payTo: payTo.toLowerCase() as Address,
    amount: units(BigInt(amount)),
    expiresAt: seconds(expiresAt),
  })
  const { nonce } = challenge
  await ledger.issue(challenge)
  await ledger.claim(nonce, {
    kind: 'self-transfer',
    challengeNonce: nonce,
    burnTxHash: txHash as TxHash,
  })
  const rpc = createJsonRpc({ url: net.rpcUrl, timeoutMs: limits.rpcTimeoutMs, answerBytesMax: 1_000_000 })
  const { token, permitBurner, chainId, fromBlock } = net.deployment
  const chain = createChain({
    rpc,
    token: token.toLowerCase() as Address,
    helper: permitBurner.toLowerCase() as Address,
    chainId,
    fromBlock: Number(fromBlock),
    ...limits,
  })
  const reread = createRereadBurn({ chain, rpc })
  onTestFinished(() => rpc.close())
  return {
    accepted: async () => (await ledger.find(nonce))?.accepted?.burn,
    async replace(transfer: Burn): Promise<boolean> {
      const payment = await ledger.books.find(nonce)
      return replaceClaimed({ ledger, reread, depth, report: () => undefined }, challenge, payment, [
        transfer,
      ])
    },
  }
}
