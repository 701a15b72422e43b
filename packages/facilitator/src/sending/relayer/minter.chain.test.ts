import { tokenAbi, tokenBytecode } from '@svc-zerc20/contracts'
import { type Chain, minedReceipt, startChain } from '@svc-zerc20/devnet'
import type { Address, ChallengeNonce } from '@svc-zerc20/protocol'
import {
  createPublicClient,
  createWalletClient,
  custom,
  decodeErrorResult,
  encodeFunctionData,
  type Hex,
  parseEther,
  toHex,
} from 'viem'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { hardhat } from 'viem/chains'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { until } from '../../../../../test/support/until.js'
import { limits, startTestRelayer } from '../../../test/relayer.js'
import type { MintCall } from '../../payment/ports.js'
import type { SignedTransaction } from '../../payment/records.js'
import { createMinter } from './minter.js'

let chain: Chain
let account: PrivateKeyAccount
let token: Address
let provider: Address
const closers: (() => unknown)[] = []
beforeAll(async () => {
  chain = await startChain()
})
afterAll(() => chain.close())
/** A token whose verifier is the relayer itself: its `teleport` is a mint without a proof. */
beforeEach(async () => {
  account = privateKeyToAccount(generatePrivateKey())
  provider = privateKeyToAccount(generatePrivateKey()).address.toLowerCase() as Address
  const owner = privateKeyToAccount(generatePrivateKey())
  await chain.request('hardhat_setBalance', [owner.address, toHex(parseEther('1'))])
  const transport = custom({ request: ({ method, params }) => chain.request(method, params) })
  const wallet = createWalletClient({ account: owner, chain: hardhat, transport })
  const client = createPublicClient({ transport })
  const args = ['Token', 'T', 6, owner.address] as const
  const hash = await wallet.deployContract({ abi: tokenAbi, bytecode: tokenBytecode, args })
  const { contractAddress } = await minedReceipt(client, hash)
  token = `${contractAddress}`.toLowerCase() as Address
  const role = {
    address: token,
    abi: tokenAbi,
    functionName: 'setVerifier',
    args: [account.address],
  } as const
  await minedReceipt(client, await wallet.writeContract(role))
})
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
  chain.setFaults([])
  await chain.dropPending()
  await chain.resumeMining()
})

const nonceOf = (digit: string) => `0x${digit.repeat(64)}` as ChallengeNonce
const written: { transaction: SignedTransaction; nonces: readonly ChallengeNonce[] }[] = []
beforeEach(() => {
  written.length = 0
})

async function startMinter(options: { started?: boolean; wei?: bigint } = {}) {
  const testRelayer = await startTestRelayer({ chain, account, ...options })
  closers.push(() => testRelayer.relayer.close())
  const minter = createMinter({
    rpc: testRelayer.rpc,
    sender: testRelayer.relayer,
    recordSigned: async (transaction, nonces) => void written.push({ transaction, nonces }),
  })
  return { ...testRelayer, minter }
}

function teleport(value: bigint, nonce = nonceOf('1'), gas = 200_000n): MintCall {
  const data = encodeFunctionData({ abi: tokenAbi, functionName: 'teleport', args: [provider, value] })
  return { to: token, data, gas, nonces: [nonce] }
}

async function balanceOfProvider(): Promise<bigint> {
  const data = encodeFunctionData({ abi: tokenAbi, functionName: 'balanceOf', args: [provider] })
  return BigInt((await chain.request('eth_call', [{ to: token, data }, 'latest'])) as Hex)
}

describe('the minter', () => {
  it('mints, and says in which transaction; recorded before it was seen', async () => {
    const { minter } = await startMinter()
    const outcome = await minter.mint(teleport(7n))
    expect(written).toMatchObject([{ nonces: [nonceOf('1')] }])
    const txHash = written[0]?.transaction.hash
    expect(outcome).toEqual({ kind: 'mined', txHash })
    expect(await balanceOfProvider()).toBe(7n)
    expect(minter.isUnderWay(nonceOf('1'))).toBe(false)
  })

  it('sends one transaction for a payment, however often it is asked while that is under way', async () => {
    const { minter, relayer } = await startMinter()
    await chain.pauseMining()
    const asked = [minter.mint(teleport(7n)), minter.mint(teleport(7n)), minter.mint(teleport(7n))]
    await until(() => relayer.queue().length > 0)
    expect(minter.isUnderWay(nonceOf('1'))).toBe(true)
    asked.push(minter.mint(teleport(7n)))
    await chain.resumeMining()
    const outcomes = await Promise.all(asked)
    expect(new Set(outcomes.map(({ kind }) => kind))).toEqual(new Set(['mined']))
    expect([written.length, await balanceOfProvider()]).toEqual([1, 7n])
  })

  it('does not send what the contract would refuse, and gives its error', async () => {
    await chain.request('hardhat_setBalance', [account.address, toHex(parseEther('1'))])
    const { minter } = await startMinter()
    const data = encodeFunctionData({ abi: tokenAbi, functionName: 'mint', args: [provider, 1n] })
    const outcome = await minter.mint({ ...teleport(1n), data })
    expect(outcome).toMatchObject({ kind: 'failed', why: 'would_revert' })
    const { cause } = (outcome.kind === 'failed' ? outcome.err : undefined) as { cause: { data: Hex } }
    expect(decodeErrorResult({ abi: tokenAbi, data: cause.data }).errorName).toBe('OnlyMinter')
    expect(written).toEqual([])
  })

  it('says so when it reverts on chain all the same', async () => {
    const { minter } = await startMinter()
    chain.setFaults([{ method: 'eth_call', kind: 'result', value: '0x' }])
    const outcome = await minter.mint(teleport(7n, nonceOf('1'), 30_000n))
    const txHash = written[0]?.transaction.hash
    expect(outcome).toEqual({ kind: 'failed', why: 'reverted', txHash })
    chain.setFaults([])
    expect(await minter.mint(teleport(7n))).toMatchObject({ kind: 'mined' })
    expect(await balanceOfProvider()).toBe(7n)
  })

  it('fails by name without money, without the node and without the disk, and sends nothing', async () => {
    const { minter, setBalance, relayer } = await startMinter({ wei: 0n })
    chain.setFaults([{ method: 'eth_call', kind: 'result', value: '0x' }])
    expect(await minter.mint(teleport(7n))).toMatchObject({ kind: 'failed', why: 'unfunded' })
    await setBalance(parseEther('1'))
    chain.setFaults([{ method: '*', kind: 'httpStatus', status: 503 }])
    expect(await minter.mint(teleport(7n))).toMatchObject({ kind: 'failed', why: 'unavailable' })
    chain.setFaults([])
    const broken = createMinter({
      rpc: (await startMinter()).rpc,
      sender: relayer,
      recordSigned: () => Promise.reject(new Error('disk full')),
    })
    expect(await broken.mint(teleport(7n))).toMatchObject({ kind: 'failed', why: 'unavailable' })
    expect([written.length, await balanceOfProvider()]).toEqual([0, 0n])
    expect(await minter.mint(teleport(7n))).toMatchObject({ kind: 'mined' })
  })

  it('goes on with the mint of an earlier run, and sends no second one for its payment', async () => {
    const before = await startMinter()
    // It may be sent after it is recorded. It must not be mined before the next run is asked for the same mint.
    await chain.pauseMining()
    chain.setFaults([{ method: 'eth_sendRawTransaction', kind: 'httpStatus', status: 503 }])
    void before.minter.mint(teleport(7n))
    await until(() => written.length === 1)
    before.relayer.close()
    chain.setFaults([])

    const after = await startMinter({ started: false })
    const resumed = after.minter.resume({
      transactions: written.map(({ transaction }) => transaction),
      nonces: [nonceOf('1')],
    })
    await after.relayer.start()
    const asked = after.minter.mint(teleport(7n))
    await chain.resumeMining()
    await after.passTime(limits.rebroadcastMs, () => after.relayer.queue().length === 0)
    const txHash = written[0]?.transaction.hash
    expect(await resumed).toEqual({ kind: 'mined', txHash })
    expect(await asked).toEqual(await resumed)
    expect([written.length, await balanceOfProvider()]).toEqual([1, 7n])
  })

  it('finds the mint of an earlier run that was mined before the crash', async () => {
    const before = await startMinter()
    await before.minter.mint(teleport(7n))
    before.relayer.close()
    const after = await startMinter({ started: false })
    const transactions = written.map(({ transaction }) => transaction)
    const outcome = await after.minter.resume({ transactions, nonces: [nonceOf('1')] })
    expect(outcome).toMatchObject({ kind: 'mined' })
    expect(await balanceOfProvider()).toBe(7n)
  })

  it('fault 10 a reorg takes the mint back: the same bytes are mined again, and no second mint is sent', async () => {
    const { minter, passTime, count, relayer } = await startMinter()
    await minter.mint(teleport(7n))
    await chain.pauseMining()
    await chain.reorg(1, { keepTransactions: false })
    expect(await balanceOfProvider()).toBe(0n)
    await passTime(limits.reorgedAfterMs, () => count('relayer.reorged') === 1)
    expect(minter.isUnderWay(nonceOf('1'))).toBe(true)
    const asked = minter.mint(teleport(7n))
    await chain.resumeMining()
    // No time passes: a slow machine must not make the relayer raise the fee of what it has just sent again.
    await passTime(0, () => relayer.queue().length === 0)
    expect(await asked).toMatchObject({ kind: 'mined' })
    expect([written.length, await balanceOfProvider()]).toEqual([1, 7n])
  })
})
