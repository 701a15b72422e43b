import { verifierAbi } from '@svc-zerc20/contracts'
import { developmentRoles } from '@svc-zerc20/devnet'
import { createJsonRpc, type JsonRpc } from '@svc-zerc20/evm'
import { type Address, type Clock, parseAddress } from '@svc-zerc20/protocol'
import { encodeFunctionData } from 'viem'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { until } from '../../../../test/support/until.js'
import { startWorld, type World } from '../../test/world.js'
import { limits } from '../limits.js'
import { defaultCeilingGwei, gasPriceCeiling } from './gas-price-ceiling.js'
import { reserveCall } from './root-step.js'
import { createSender } from './sender.js'

let world: World
let ending: AbortController
let rpc: JsonRpc
const { rootProver } = developmentRoles

beforeEach(async () => {
  world = await startWorld()
  ending = new AbortController()
  rpc = createJsonRpc({ url: world.chain.rpcUrl, ...limits.rpc })
})

afterEach(async () => {
  ending.abort()
  rpc.close()
  await world.close()
})

/** Time that passes as fast as somebody waits for it. */
function hastyClock(): Clock {
  let now = 0
  return {
    now: () => now,
    async sleep(ms) {
      now += ms
      await new Promise((resolve) => setTimeout(resolve, 1))
    },
  }
}

function senderOn(clock: Clock = hastyClock()) {
  const { privateKey } = rootProver
  const ceiling = gasPriceCeiling(defaultCeilingGwei)
  const { chainId } = world.chain
  return createSender({ rpc, chainId, privateKey, clock, ceiling, errors: verifierAbi, limits })
}

const verifier = (): Address => {
  const address = parseAddress(world.deployment.verifier)
  if (address === undefined) throw new Error('no verifier')
  return address
}

type Pending = { hash: string; nonce: string; maxFeePerGas: string }
const pending = async () => (await world.chain.request('eth_pendingTransactions')) as Pending[]

test('an unmined transaction is replaced under its nonce by one with a higher fee', async () => {
  const sent = senderOn().send({ to: verifier(), data: reserveCall() }, ending.signal)
  const [first] = await until(async () => ((await pending()).length > 0 ? pending() : undefined))
  const raised = await until(async () => {
    const [now] = await pending()
    return now?.hash !== first?.hash && now
  })
  expect(raised.nonce).toBe(first?.nonce)
  expect(BigInt(raised.maxFeePerGas)).toBeGreaterThanOrEqual((BigInt(first?.maxFeePerGas ?? 0) * 5n) / 4n)
  await world.chain.mine()
  expect(await sent).toMatchObject({ cost: { gas: expect.any(BigInt) } })
})

test('what an earlier run left unmined is replaced', async () => {
  const abandoned = new AbortController()
  const old = senderOn().send({ to: verifier(), data: reserveCall() }, abandoned.signal)
  const [left] = await until(async () => ((await pending()).length > 0 ? pending() : undefined))
  abandoned.abort()
  await expect(old).rejects.toMatchObject({ code: 'transaction_stuck' })
  const sent = senderOn().send({ to: verifier(), data: reserveCall() }, ending.signal)
  await until(async () => {
    const waiting = await pending()
    return waiting.length === 1 && waiting[0]?.nonce === left?.nonce && waiting[0]?.hash !== left?.hash
  })
  await world.chain.mine()
  await sent
})

test('an answer that is lost is no second transaction', async () => {
  world.chain.setFaults([
    { method: 'eth_sendRawTransaction', kind: 'dropResponse', executed: true, times: 1 },
  ])
  const sent = senderOn().send({ to: verifier(), data: reserveCall() }, ending.signal)
  await until(async () => (await pending()).length === 1)
  await world.chain.mine()
  await sent
  const count = await world.chain.request('eth_getTransactionCount', [rootProver.address, 'latest'])
  expect(Number(count)).toBe(1)
})

test("a call that cannot succeed is refused in the contract's own words and costs nothing", async () => {
  const data = encodeFunctionData({ abi: verifierAbi, functionName: 'proveTransferRoot', args: ['0x'] })
  await expect(senderOn().send({ to: verifier(), data }, ending.signal)).rejects.toMatchObject({
    code: 'transaction_refused',
    message: `UnauthorizedProver(${rootProver.address})`,
  })
  expect(await pending()).toEqual([])
})

test('a reorg that takes the transaction before it ends the wait', async () => {
  const sender = senderOn()
  const first = sender.send({ to: verifier(), data: reserveCall() }, ending.signal)
  await until(async () => (await pending()).length === 1)
  await world.chain.mine()
  await first
  const second = sender.send({ to: verifier(), data: reserveCall() }, ending.signal)
  await until(async () => (await pending()).length === 1)
  await world.chain.dropPending()
  await Promise.all([
    expect(second).rejects.toMatchObject({ code: 'transaction_displaced' }),
    world.chain.reorg(1),
  ])
})
