import { permitBurnerAbi, tokenAbi } from '@svc-zerc20/contracts'
import { type Address, concat, encodeFunctionData, parseEventLogs, parseGwei } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { until } from '../../../../../test/support/until.js'
import { type SettleBody, startNetwork, type TestNetwork } from '../../../test/network.js'
import { limits } from '../../config/limits.js'

const amount = 1000n

let net: TestNetwork
beforeAll(async () => {
  net = await startNetwork({ config: { settlement: { receipt_poll_ms: 300 } } })
})
afterEach(async () => {
  net.chain.setFaults([])
  await net.chain.resumeMining()
})
afterAll(() => net.close())

/** The effects of the relayer's transactions: burns executed, burns that failed at its cost, and gas. */
async function relayed() {
  const receipts = await net.relayerReceipts()
  const events = parseEventLogs({ abi: permitBurnerAbi, logs: receipts.flatMap(({ logs }) => logs) })
  const named = (name: string) => events.filter(({ eventName }) => eventName === name).length
  return {
    executed: named('BurnExecuted'),
    failed: named('BurnFailed'),
    gas: receipts.reduce((sum, { gasUsed }) => sum + gasUsed, 0n),
  }
}

async function relayedDuring(task: () => Promise<unknown>) {
  const before = await relayed()
  await task()
  const after = await relayed()
  return {
    executed: after.executed - before.executed,
    failed: after.failed - before.failed,
    gas: after.gas - before.gas,
  }
}

const call = (account: PrivateKeyAccount, data: `0x${string}`) =>
  net.transact(account, { to: net.deployment.token, data })

async function approve(account: PrivateKeyAccount, value: bigint): Promise<void> {
  const args = [net.deployment.permitBurner, value] as const
  await call(account, encodeFunctionData({ abi: tokenAbi, functionName: 'approve', args }))
}

/** Uses up permit nonces, as the account itself may do with its own permits: the live one is higher then. */
async function usePermitNonces(account: PrivateKeyAccount, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const { payload } = await net.permitPayment(account)
    const { value, deadline, v, r, s } = payload.permit
    const args = [
      account.address,
      net.deployment.permitBurner,
      BigInt(value),
      BigInt(deadline),
      v,
      r,
      s,
    ] as const
    await call(account, encodeFunctionData({ abi: tokenAbi, functionName: 'permit', args }))
  }
}

/** Sends the same payload until it is known how the burn ended. */
const settleToEnd = (body: object): Promise<SettleBody> =>
  until(async () => {
    const { body: answer } = await net.settle(body)
    return answer.errorReason === 'pending_burn' ? undefined : answer
  })

/** Settles a payment while its transaction cannot be mined, spoils it, and lets a block come. */
async function spoilAfterSending(account: PrivateKeyAccount, to: Address): Promise<void> {
  const { body, offer } = await net.permitPayment(account, `${amount}`)
  await net.chain.pauseMining()
  expect((await net.settle(body)).body.errorReason).toBe('pending_burn')
  await net.walletOf(account).writeContract({
    address: net.deployment.token,
    abi: tokenAbi,
    functionName: 'transfer',
    args: [to, await net.balanceOf(account.address)],
    gas: 100_000n,
    maxFeePerGas: parseGwei('500'),
    maxPriorityFeePerGas: parseGwei('500'),
  })
  await net.chain.resumeMining()
  const { success, errorReason } = await settleToEnd(body)
  expect(success).toBe(false)
  const failed = net.events.filter(({ event }) => event === 'burn.failed')
  expect(failed.at(-1)).toMatchObject({ challengeNonce: offer.challengeNonce, reason: 'insufficient_funds' })
  // A request that comes when the burn has failed already is one more attempt of this payer.
  expect(['insufficient_funds', 'payer_must_wait']).toContain(errorReason)
}

type Spoil = { readonly from: PrivateKeyAccount; readonly to: Address; readonly data: `0x${string}` }

/** Sends a call at a price that puts it in front of every burn of the block. */
const sendInFront = ({ from, to, data }: Spoil) =>
  net.walletOf(from).sendTransaction({
    to,
    data,
    gas: 500_000n,
    maxFeePerGas: parseGwei('500'),
    maxPriorityFeePerGas: parseGwei('500'),
  })

/** Makes the code of an account call whatever it is told: the first 20 bytes say whom. Anybody may send it. */
async function delegate(account: PrivateKeyAccount): Promise<void> {
  const wallet = net.walletOf(account)
  const runtime = '601436038060145f375f5f825f5f5f3560601c5af100'
  const hash = await wallet.deployContract({
    abi: [],
    bytecode: `0x6016600a5f3960165ff3${runtime}`,
    gas: 200_000n,
  })
  const { contractAddress } = await net.client.waitForTransactionReceipt({ hash, checkReplacement: false })
  if (!contractAddress) throw new Error('nothing was deployed')
  const authorization = await wallet.signAuthorization({ account, contractAddress, executor: 'self' })
  const delegated = await wallet.sendTransaction({
    to: account.address,
    authorizationList: [authorization],
    gas: 200_000n,
  })
  await net.client.waitForTransactionReceipt({ hash: delegated, checkReplacement: false })
}

/** An account whose permits of nonces below `count` are all good by one approval, with the payments that they pay. */
async function standingApproval(count: number) {
  const attacker = await net.account({ tokens: BigInt(count) * amount, gas: true })
  await usePermitNonces(attacker, count)
  await approve(attacker, 2n ** 256n - 1n)
  const payments = await Promise.all(
    Array.from({ length: count }, (_, nonce) =>
      net.permitPayment(attacker, `${amount}`, { nonce: BigInt(nonce) }),
    ),
  )
  return { attacker, payments }
}

const tokenCall = (functionName: 'approve' | 'transfer', args: readonly [Address, bigint]) => ({
  to: net.deployment.token,
  data: encodeFunctionData({ abi: tokenAbi, functionName, args }),
})

describe('many permits of one payer behind one approval and one balance', () => {
  const ways: [string, (attacker: PrivateKeyAccount) => Promise<Spoil>][] = [
    [
      'its approval taken back',
      async (from) => ({ from, ...tokenCall('approve', [net.deployment.permitBurner, 0n]) }),
    ],
    [
      'its balance moved away',
      async (from) => {
        const all = await net.balanceOf(from.address)
        return { from, ...tokenCall('transfer', [net.deployment.token, all]) }
      },
    ],
    [
      'a permit of its own that grants nothing',
      async (from) => {
        const { payload } = await net.permitPayment(from, `${amount}`, { value: 0n })
        const { deadline, v, r, s } = payload.permit
        const args = [from.address, net.deployment.permitBurner, 0n, BigInt(deadline), v, r, s] as const
        const data = encodeFunctionData({ abi: tokenAbi, functionName: 'permit', args })
        return { from, to: net.deployment.token, data }
      },
    ],
    [
      'the code of its account (EIP-7702), called by a stranger,',
      async (attacker) => {
        await delegate(attacker)
        const { to, data } = tokenCall('approve', [net.deployment.permitBurner, 0n])
        return { from: await net.account({ gas: true }), to: attacker.address, data: concat([to, data]) }
      },
    ],
  ]
  it.each(ways)(
    '%s in front of their burns wastes one of them, and the payer has to wait',
    async (_way, spoil) => {
      const { attacker, payments } = await standingApproval(12)
      const spoiled = await spoil(attacker)
      await net.chain.pauseMining()
      const asked = await Promise.all(payments.map(({ body }) => net.settle(body)))
      expect(asked.map(({ body }) => body.errorReason).sort()).toEqual([
        ...Array(11).fill('payer_must_wait'),
        'pending_burn',
      ])
      await sendInFront(spoiled)
      const failures = () => net.events.filter(({ event }) => event === 'burn.failed').length
      const before = failures()
      const { executed, failed, gas } = await relayedDuring(async () => {
        await net.chain.resumeMining()
        await until(() => failures() > before)
        const again = await Promise.all(payments.map(({ body }) => net.settle(body)))
        expect(new Set(again.map(({ body }) => body.errorReason))).toEqual(new Set(['payer_must_wait']))
      })
      expect([executed, failed]).toEqual([0, 1])
      // All twelve cost half a million.
      expect(gas).toBeLessThan(100_000n)
    },
  )

  it('are burned one after the other, as far as the balance goes, and none fails', async () => {
    const { payments } = await standingApproval(4)
    const { executed, failed } = await relayedDuring(async () => {
      const settled = await Promise.all(
        payments.map(({ body }) =>
          until(async () => {
            const { body: answer } = await net.settle(body)
            const isAgain = answer.errorReason === 'pending_burn' || answer.errorReason === 'payer_must_wait'
            return isAgain ? undefined : answer
          }),
        ),
      )
      expect(settled.every((answer) => answer.success)).toBe(true)
    })
    expect([executed, failed]).toEqual([4, 0])
  })
})

describe('a burn that fails when it is tried before it is sent', () => {
  it('is refused by name, and the relayer spends nothing', async () => {
    const payer = await net.account({ tokens: amount, gas: true })
    const { offer, body } = await net.permitPayment(payer, `${amount}`)
    await net.transfer(payer, net.deployment.token, amount)
    // The node that is asked for the facts has not seen the transfer yet.
    net.chain.setFaults([{ method: 'eth_call', kind: 'lag', blocks: 1, times: 1 }])
    const spent = await relayedDuring(async () => {
      expect(await settleToEnd(body)).toMatchObject({
        success: false,
        errorReason: 'insufficient_funds',
        transaction: '',
      })
    })
    expect(spent).toEqual({ executed: 0, failed: 0, gas: 0n })
    expect((await net.status(offer.challengeNonce)).body.phase).toBe('open')
  })

  it('leaves the others of its batch alone', async () => {
    const payers = await Promise.all(
      Array.from({ length: 4 }, () => net.account({ tokens: amount, gas: true })),
    )
    const [spoiler] = payers
    const payments = await Promise.all(payers.map((payer) => net.permitPayment(payer, `${amount}`)))
    if (spoiler) await net.transfer(spoiler, net.deployment.token, amount)
    net.chain.setFaults([{ method: 'eth_call', kind: 'lag', blocks: 1, times: 1 }])
    const { executed, failed } = await relayedDuring(async () => {
      const settled = await Promise.all(payments.map(({ body }) => settleToEnd(body)))
      expect(settled.map((body) => body.errorReason)).toEqual([
        'insufficient_funds',
        undefined,
        undefined,
        undefined,
      ])
    })
    expect([executed, failed]).toEqual([3, 0])
  })

  it('is tried again when the node that tried it is behind the one that was asked for the facts', async () => {
    const payer = await net.account({ tokens: 0n })
    await net.faucet.mintTokens(payer.address, amount)
    const { body } = await net.permitPayment(payer, `${amount}`)
    net.chain.setFaults([{ method: 'eth_call', kind: 'lag', blocks: 1, skip: 1, times: 2 }])
    expect(await settleToEnd(body)).toMatchObject({ success: true })
  })
})

describe('a payer that spoils burns once they are sent', () => {
  it('waits longer each time, is told so, and pays again after its wait', async () => {
    const spoiler = await net.account({ tokens: 0n, gas: true })
    const refill = () => net.faucet.mintTokens(spoiler.address, amount)
    net.clock.stand()
    onTestFinished(() => net.clock.release())
    for (const waitMs of [limits.payerWaitFirstMs, 2 * limits.payerWaitFirstMs]) {
      await refill()
      await spoilAfterSending(spoiler, net.deployment.token)
      await refill()
      const { body } = await net.permitPayment(spoiler, `${amount}`)
      net.clock.advance(waitMs - 5_000)
      const { body: verified } = await net.verify(body)
      expect(verified.invalidReason).toBe('payer_must_wait')
      expect(verified.invalidMessage).toMatch(/wait [1-5] s, or pay by self-transfer/)
      const spent = await relayedDuring(() => net.settle(body))
      expect(spent.gas).toBe(0n)
      net.clock.advance(5_000)
      await net.transfer(spoiler, net.deployment.token, amount)
    }
    await refill()
    const { body } = await net.permitPayment(spoiler, `${amount}`)
    expect(await settleToEnd(body)).toMatchObject({ success: true })
  })
})

describe('a payer that pays once more while its first burn is mined and not accepted yet', () => {
  it('is not asked for the first amount twice', async () => {
    const payer = await net.account({ tokens: 2n * amount })
    const first = await net.permitPayment(payer, `${amount}`)
    net.chain.setFaults([{ method: 'eth_getTransactionReceipt', kind: 'result', value: null }])
    expect((await net.settle(first.body)).body.errorReason).toBe('pending_burn')
    await until(async () => (await net.balanceOf(payer.address)) === amount)
    const second = await net.permitPayment(payer, `${amount}`)
    expect((await net.verify(second.body)).body).toMatchObject({ isValid: true })
    net.chain.setFaults([])
    expect(await settleToEnd(second.body)).toMatchObject({ success: true })
    expect(await settleToEnd(first.body)).toMatchObject({ success: true })
  })
})
