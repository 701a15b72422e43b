import { tokenAbi } from '@svc-zerc20/contracts'
import { developmentRoles } from '@svc-zerc20/devnet'
import { type Hex, parseGwei } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { until } from '../../../../../test/support/until.js'
import { startNetwork, type TestNetwork } from '../../../test/network.js'
import { limits } from '../../config/limits.js'

const relayer = privateKeyToAccount(developmentRoles.relayer.privateKey)

let net: TestNetwork
let payer: PrivateKeyAccount
beforeAll(async () => {
  net = await startNetwork()
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

const phaseOf = async (challengeNonce: Hex) => (await net.status(challengeNonce)).body.phase

describe('fault 9 a reorg after the payment was accepted', () => {
  it('the operator hears of it, the payment is demoted, and accepted again by the same transaction', async () => {
    const { challengeNonce, body, transaction } = await loseAccepted()
    await net.passTime(limits.rebroadcastMs, () => seen('burn.reorged', challengeNonce) === 1)
    expect(await phaseOf(challengeNonce)).not.toBe('accepted')
    expect(await net.burnsOf(challengeNonce)).toEqual([])
    await net.chain.resumeMining()
    await net.passTime(limits.rebroadcastMs, async () => (await phaseOf(challengeNonce)) === 'accepted')
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
    await net.passTime(limits.reorgedAfterMs, () => seen('burn.reorged', challengeNonce) === 1)
    await net.passTime(
      limits.displacedAfterMs / 2,
      async () => (await phaseOf(challengeNonce)) === 'accepted',
    )
    const burns = await net.burnsOf(challengeNonce)
    expect(burns).toHaveLength(1)
    expect(burns[0]?.transactionHash).not.toBe(transaction)
    expect((await net.status(challengeNonce)).body.transaction).toBe(burns[0]?.transactionHash)
  })

  it.each([
    ['before it is mined again', 1],
    ['in front of it in the block that has both', 2],
  ])('the payer spends the money otherwise, %s: the payment stays demoted', async (_when, together) => {
    const { challengeNonce, transaction } = await loseAccepted()
    await transferFirst(await net.balanceOf(payer.address))
    await net.passTime(limits.rebroadcastMs, async () => (await pending()) >= together)
    await net.chain.mine()
    await net.chain.resumeMining()
    await net.passTime(limits.rebroadcastMs, () => seen('burn.lost', challengeNonce) === 1)
    expect(seen('burn.reorged', challengeNonce)).toBe(1)
    expect(await phaseOf(challengeNonce)).not.toBe('accepted')
    expect(await net.burnsOf(challengeNonce)).toEqual([])
    // It was served: the operator finds it in a list, in the status and in the metrics.
    const headers = { authorization: `Bearer ${net.adminToken}` }
    const { body: odd } = await net.send('/admin/late', { headers })
    expect(odd).toMatchObject({
      demoted: expect.arrayContaining([
        expect.objectContaining({ challengeNonce, transaction, granted: true, demoted: true }),
      ]),
    })
    const { body: status } = await net.send('/admin/status', { headers })
    const { demoted } = (status as { payments: { demoted: number } }).payments
    expect(demoted).toBe((odd as { demoted: unknown[] }).demoted.length)
    const { text: metrics } = await net.send('/admin/metrics', { headers })
    expect(metrics).toContain(`svc_payments_demoted ${demoted}\n`)
  })

  it('a burn that only moved stays accepted, at its new place', async () => {
    const { offer, body } = await net.permitPayment(payer)
    const { challengeNonce } = offer
    expect((await net.settle(body)).body).toMatchObject({ success: true })
    const leafOf = async () => {
      const headers = { authorization: `Bearer ${net.adminToken}` }
      const { body: shown } = await net.send(`/admin/payments/${challengeNonce}`, { headers })
      return (shown as { payment: { burn?: { leafIndex: string } } }).payment.burn?.leafIndex
    }
    const before = Number(await leafOf())
    await net.chain.pauseMining()
    await net.chain.reorg(1)
    await transferFirst(1n)
    await net.chain.mine()
    await net.chain.resumeMining()
    await until(async () => (await net.burnsOf(challengeNonce)).length === 1)
    await net.passTime(limits.reorgPollMs, async () => Number(await leafOf()) === before + 1)
    expect(await net.burnsOf(challengeNonce)).toHaveLength(1)
    expect(await phaseOf(challengeNonce)).toBe('accepted')
    expect(seen('burn.reorged', challengeNonce)).toBe(0)
  })
})

const pending = async () => ((await net.chain.request('eth_pendingTransactions')) as unknown[]).length

/** The payer moves money, in front of everything that waits. */
async function transferFirst(value: bigint): Promise<void> {
  const fee = parseGwei('400')
  await net.walletOf(payer).writeContract({
    address: net.deployment.token,
    abi: tokenAbi,
    functionName: 'transfer',
    args: [relayer.address, value],
    gas: 200_000n,
    maxFeePerGas: fee,
    maxPriorityFeePerGas: fee,
  })
}
