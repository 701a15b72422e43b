import { developmentRoles } from '@svc-zerc20/devnet'
import { type Address, type Hex, parseGwei } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startNetwork, type TestNetwork, until } from '../../test/network.js'
import { limits } from '../limits.js'

const relayer = privateKeyToAccount(developmentRoles.relayer.privateKey)
const config = { settlement: { receipt_poll_ms: 300 } }

let net: TestNetwork
let payer: PrivateKeyAccount
beforeAll(async () => {
  net = await startNetwork({ config })
})
beforeEach(async () => {
  payer = await net.account({ gas: true })
})
afterEach(() => net.chain.resumeMining())
afterAll(() => net.close())

const seen = (event: string, challengeNonce: Hex) =>
  net.events.filter(
    (told) => told.event === event && 'challengeNonce' in told && told.challengeNonce === challengeNonce,
  ).length

/** A payment that is accepted, then loses its block; nothing is mined any more. */
async function loseAccepted() {
  const { offer, body } = await net.permitPayment(payer)
  const { body: answer } = await net.settle(body)
  expect(answer).toMatchObject({ success: true })
  await net.chain.pauseMining()
  const { transactions } = await net.chain.reorg(1, { keepTransactions: false })
  expect(transactions).toEqual([answer.transaction])
  const { challengeNonce } = offer
  return { challengeNonce, body, transaction: answer.transaction as Hex }
}

async function passUntil(isSo: () => boolean | Promise<boolean>, stepMs: number): Promise<void> {
  await until(async () => {
    net.clock.advance(stepMs)
    return isSo()
  })
}

const phaseOf = async (challengeNonce: Hex) => (await net.status(challengeNonce)).body.phase

describe('fault 9 a reorg after the payment was accepted', () => {
  it('the operator hears of it, the payment is demoted, and accepted again by the same transaction', async () => {
    const { challengeNonce, body, transaction } = await loseAccepted()
    await passUntil(() => seen('burn.reorged', challengeNonce) === 1, limits.rebroadcastMs)
    expect(await phaseOf(challengeNonce)).not.toBe('accepted')
    expect(await net.burnsOf(challengeNonce)).toEqual([])
    await net.chain.resumeMining()
    await passUntil(async () => (await phaseOf(challengeNonce)) === 'accepted', limits.rebroadcastMs)
    const burns = await net.burnsOf(challengeNonce)
    expect(burns.map(({ transactionHash }) => transactionHash)).toEqual([transaction])
    expect(seen('payment.accepted', challengeNonce)).toBe(2)
    // Paid once, served once.
    expect((await net.settle(body)).body).toMatchObject({ success: false, errorReason: 'already_accepted' })
  })

  it('its nonce is used otherwise on the new branch: the burn goes into a new transaction', async () => {
    const { challengeNonce, transaction } = await loseAccepted()
    const fee = parseGwei('500')
    await net.walletOf(relayer).sendTransaction({
      to: relayer.address,
      nonce: await net.client.getTransactionCount({ address: relayer.address }),
      maxFeePerGas: fee,
      maxPriorityFeePerGas: fee,
    })
    await net.chain.mine()
    await net.chain.resumeMining()
    await passUntil(() => seen('burn.reorged', challengeNonce) === 1, limits.reorgedAfterMs)
    await passUntil(async () => (await phaseOf(challengeNonce)) === 'accepted', limits.displacedAfterMs / 2)
    const burns = await net.burnsOf(challengeNonce)
    expect(burns).toHaveLength(1)
    expect(burns[0]?.transactionHash).not.toBe(transaction)
    expect((await net.status(challengeNonce)).body.transaction).toBe(burns[0]?.transactionHash)
  })

  it('the payer spends the money otherwise: the payment stays demoted, and the operator is told', async () => {
    const { challengeNonce } = await loseAccepted()
    const elsewhere = privateKeyToAccount(`0x${'12'.repeat(32)}`).address as Address
    await net.chain.dropPending()
    const { walletOf, deployment } = net
    const balance = await net.balanceOf(payer.address)
    const spent = walletOf(payer).writeContract({
      address: deployment.token,
      abi: transferAbi,
      functionName: 'transfer',
      args: [elsewhere, balance],
      gas: 200_000n,
    })
    await spent
    await net.chain.mine()
    await net.chain.resumeMining()
    await passUntil(() => seen('burn.lost', challengeNonce) === 1, limits.rebroadcastMs)
    expect(await phaseOf(challengeNonce)).not.toBe('accepted')
    expect(await net.burnsOf(challengeNonce)).toEqual([])
  })
})

const transferAbi = [
  {
    type: 'function',
    name: 'transfer',
    stateMutability: 'nonpayable',
    inputs: [{ type: 'address' }, { type: 'uint256' }],
    outputs: [{ type: 'bool' }],
  },
] as const
