/** Sweeps on a real chain: every token that moves is counted there. */
import { feeSplitterAbi, feeSplitterBytecode } from '@svc-zerc20/contracts'
import { createGasPrices, createJsonRpc } from '@svc-zerc20/evm'
import { type Address, parseAddress } from '@svc-zerc20/protocol'
import { type Hex, parseEther, parseGwei, toHex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { movableClock } from '../../../../../test/support/clocks.js'
import { type End, passTime } from '../../../../../test/support/pass-time.js'
import { until } from '../../../../../test/support/until.js'
import { createFeeLedger, feeRecipient } from '../../../test/fee-ledger.js'
import { startNetwork, type TestNetwork } from '../../../test/network.js'
import { limits } from '../../../test/relayer.js'
import type { OpenSweep, SignedTransaction } from '../../payment/records.js'
import { createSentBefore } from '../../payment/sweep/sent-before.js'
import { createSweeper, type Sweeper } from '../../payment/sweep/sweeper.js'
import type { LogEvent } from '../../telemetry/events.js'
import { createRelayer } from '../relayer/relayer.js'
import { createSentTransfers } from './sent-transfers.js'
import { createSplitter } from './splitter.js'
import { createTreasurySender } from './treasury.js'

let net: TestNetwork
beforeAll(async () => {
  net = await startNetwork()
})
afterAll(() => net.close())

const closers: (() => void)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) close()
  net.chain.setFaults([])
  await net.chain.dropPending()
  await net.chain.resumeMining()
})

const confirmations = 3
const retryMs = { first: 1_000, max: 4_000 }
const sweepLimits = { sweepGas: 300_000n, displacedPollMs: 10 }

/** A treasury with some tokens and gas, and a ledger of fees. A run ends and the next one begins on its journal. */
async function setup({ tokens = 10_000n, wei = parseEther('1') } = {}) {
  const account = privateKeyToAccount(generatePrivateKey())
  const [treasury, token] = [addressFrom(account.address), addressFrom(net.deployment.token)]
  if (tokens > 0n) await net.faucet.mintTokens(account.address, tokens)
  const setWei = (to: bigint) => net.chain.request('hardhat_setBalance', [account.address, toHex(to)])
  await setWei(wei)
  const clock = movableClock()
  const fees = await createFeeLedger(clock)
  const events: LogEvent[] = []
  const report = (event: LogEvent) => void events.push(event)
  const before = await net.balanceOf(feeRecipient)
  const terms = { treasury, minAmount: 0n, intervalMs: 0, paymentsMax: 100 }

  function startRun() {
    const rpc = createJsonRpc({ url: net.chain.rpcUrl, timeoutMs: 5_000, answerBytesMax: 1_000_000 })
    const gasPrices = createGasPrices({
      rpc,
      clock,
      freshMs: 3_000,
      bumpPercent: 25n,
      feePerGasMax: parseGwei('2000'),
      tipPerGasMax: parseGwei('2000'),
    })
    const relayer = createRelayer({
      recordEmpty: async () => undefined,
      rpc,
      gasPrices,
      account,
      chainId: net.chain.chainId,
      confirmations,
      clock,
      report,
      reorgWatchBlocks: 0,
      onHead: () => undefined,
      limits: { ...limits, mintReserveGas: 0n },
    })
    closers.push(() => relayer.close())
    const ledger = fees.ledger()
    const sent = createSentTransfers({ rpc, token, treasury: terms.treasury, confirmations })
    const sweeper = createSweeper({
      ledger,
      sender: createTreasurySender({
        rpc,
        relayer,
        token,
        ledger,
        confirmations,
        clock,
        limits: sweepLimits,
      }),
      sentBefore: createSentBefore({ ledger, sent, terms, report }),
      clock,
      terms,
      retryMs,
      report,
    })
    return { sweeper, relayer, rpc, ledger }
  }
  let run = startRun()
  const openSweep = async () => (await fees.ledger().openSweeps())[0]
  const pass = (stepMs: number, end: End) =>
    passTime({ clock, chain: net.chain, nodeUrl: net.chain.rpcUrl }, stepMs, end)
  return {
    account,
    treasury,
    token,
    clock,
    fees,
    events,
    report,
    setWei,
    openSweep,
    run: () => run,
    sweeper: (): Sweeper => run.sweeper,
    /** Ends the run as a kill does: nothing more is written or sent by it. */
    async nextRun(copy?: string) {
      run.relayer.close()
      await fees.restart(copy)
      run = startRun()
    },
    received: async () => (await net.balanceOf(feeRecipient)) - before,
    count: (event: string) => events.filter((told) => told.event === event).length,
    /** Mines blocks and lets time pass until no sweep is open. */
    async ended() {
      await pass(1_000, async () => {
        await net.chain.mine()
        await run.sweeper.round()
        return !(await openSweep()) && !(await run.sweeper.view()).underWay
      })
    },
    passTime: pass,
  }
}

function addressFrom(text: string): Address {
  const address = parseAddress(text)
  if (!address) throw new Error(`${text} is no address`)
  return address
}

const txNonceOf = (sweep: OpenSweep | undefined) => sweep?.transactions[0]?.txNonce

/** Replaces everything from a transaction's block on by empty blocks. */
async function reorgAway(txHash: Hex): Promise<void> {
  const { blockNumber } = await net.client.getTransactionReceipt({ hash: txHash })
  const head = await net.client.getBlockNumber()
  await net.chain.reorg(Number(head - blockNumber) + 1)
}

describe('a sweep', () => {
  it('sends the fees of finalized payments in one transfer, and counts as done when it is deep', async () => {
    const { fees, treasury, sweeper, received, ended, openSweep, count } = await setup()
    await fees.earn(treasury, [7n, 11n, 13n])
    expect(await sweeper().now({ isDryRun: true })).toMatchObject({ kind: 'planned', sweep: { amount: 31n } })
    expect(await openSweep()).toBeUndefined()
    const sent = await sweeper().now({ isDryRun: false })
    expect(sent).toMatchObject({ kind: 'sent', sweep: { recipient: feeRecipient, amount: 31n } })
    await until(async () => (await received()) === 31n)
    // Mined, but a reorg could still take it back.
    expect(await openSweep()).toMatchObject({ amount: 31n })
    expect(await sweeper().now({ isDryRun: false })).toMatchObject({ kind: 'under_way' })
    await ended()
    expect(await fees.ledger().swept()).toMatchObject({ sweeps: 1, payments: 3, amount: 31n })
    expect([await received(), await net.balanceOf(treasury), count('fees.swept')]).toEqual([31n, 9_969n, 1])
    expect(await sweeper().now({ isDryRun: false })).toEqual({ kind: 'none', why: 'nothing_due' })
  })

  it('killed between its record and its transaction is sent by the next run, the same bytes', async () => {
    const { fees, treasury, sweeper, received, ended, openSweep, nextRun, count } = await setup()
    await fees.earn(treasury, [5n])
    net.chain.setFaults([{ method: 'eth_sendRawTransaction', kind: 'hang', executed: false }])
    await sweeper().round()
    await until(async () => (await openSweep()) !== undefined)
    const signed = await openSweep()
    await nextRun()
    net.chain.setFaults([])
    expect(await openSweep()).toEqual(signed)
    await sweeper().round()
    await ended()
    const { last } = await fees.ledger().swept()
    expect([last?.txHash, await received()]).toEqual([signed?.transactions[0]?.hash, 5n])
    expect([count('fees.sweep_resumed'), count('fees.swept')]).toEqual([1, 1])
  })

  it('killed after it was mined, or before its end was recorded, is found and not sent again', async () => {
    const { fees, treasury, sweeper, received, ended, nextRun } = await setup()
    await fees.earn(treasury, [5n])
    await sweeper().now({ isDryRun: false })
    await until(async () => (await received()) === 5n)
    await nextRun()
    await net.chain.mine()
    await nextRun()
    await ended()
    await nextRun()
    await sweeper().round()
    expect([await received(), (await fees.ledger().swept()).amount]).toEqual([5n, 5n])
    expect(await net.client.getTransactionCount({ address: treasury })).toBe(1)
  })

  it('that a reorg takes back is sent again, the same bytes, and counts once', async () => {
    const { fees, treasury, sweeper, received, ended, openSweep } = await setup()
    await fees.earn(treasury, [5n])
    await sweeper().now({ isDryRun: false })
    await until(async () => (await received()) === 5n)
    const hash = (await openSweep())?.transactions[0]?.hash
    await reorgAway(hash ?? '0x')
    expect(await received()).toBe(0n)
    await ended()
    expect([(await fees.ledger().swept()).last?.txHash, await received()]).toEqual([hash, 5n])
    expect(await net.client.getTransactionCount({ address: treasury })).toBe(1)
  })

  it('whose txNonce somebody else used stays open until that is deep, and its fees are swept after it', async () => {
    const { fees, treasury, account, passTime, sweeper, received, ended, openSweep, count } = await setup()
    await fees.earn(treasury, [5n, 6n])
    await net.chain.pauseMining()
    net.chain.setFaults([{ method: 'eth_sendRawTransaction', kind: 'hang', executed: false }])
    await sweeper().round()
    await until(async () => (await openSweep()) !== undefined)
    const first = await openSweep()
    net.chain.setFaults([])
    const gas = { maxFeePerGas: parseGwei('900'), maxPriorityFeePerGas: parseGwei('900') }
    const foreign = { to: account.address, nonce: txNonceOf(first) ?? 0, ...gas }
    await net.walletOf(account).sendTransaction(foreign)
    await net.chain.mine()
    // The relayer gives the transaction up, but one block could still be undone.
    await passTime(2_000, () => count('relayer.displaced') > 0)
    await sweeper().round()
    expect([await openSweep(), count('fees.sweep_failed')]).toEqual([first, 0])
    await passTime(1_000, async () => {
      await net.chain.mine()
      return count('fees.sweep_failed') > 0
    })
    expect([await openSweep(), await received()]).toEqual([undefined, 0n])
    await net.chain.resumeMining()
    await passTime(retryMs.max, async () => {
      await sweeper().round()
      return (await received()) > 0n
    })
    await ended()
    expect([await received(), (await fees.ledger().swept()).amount]).toEqual([11n, 11n])
    expect(await net.client.getTransactionCount({ address: treasury })).toBe(2)
  })

  it('is stuck and sent again at a higher fee: one of the versions is mined, and its end is found', async () => {
    const { fees, treasury, passTime, sweeper, received, ended, openSweep } = await setup()
    await fees.earn(treasury, [5n])
    await net.chain.pauseMining()
    await sweeper().round()
    await passTime(2_000, async () => (await openSweep())?.transactions.length === 2)
    await net.chain.resumeMining()
    await ended()
    expect([await received(), (await fees.ledger().swept()).sweeps]).toEqual([5n, 1])
  })
})

describe('a treasury that cannot pay', () => {
  it('its fees because somebody moved money: nothing is signed, and nothing in part', async () => {
    const { fees, treasury, clock, sweeper, received, ended, openSweep } = await setup({ tokens: 30n })
    await fees.earn(treasury, [20n, 11n])
    expect(await sweeper().now({ isDryRun: false })).toMatchObject({ kind: 'failed', why: 'treasury_short' })
    expect([await openSweep(), await received()]).toEqual([undefined, 0n])
    expect(await sweeper().view()).toMatchObject({
      due: { payments: 2, amount: 31n },
      lastFailure: { why: 'treasury_short', message: expect.stringContaining('somebody moved money') },
    })
    await net.faucet.mintTokens(treasury, 1n)
    await sweeper().round()
    expect(await openSweep()).toBeUndefined()
    clock.advance(retryMs.first)
    await ended()
    await until(async () => (await received()) === 31n)
    await ended()
    expect((await sweeper().view()).lastFailure).toBeUndefined()
  })

  it('its gas: nothing is signed, and the account to fund is named', async () => {
    const { fees, treasury, account, sweeper, received, ended, setWei, events } = await setup({ wei: 1_000n })
    await fees.earn(treasury, [5n])
    expect(await sweeper().now({ isDryRun: false })).toMatchObject({ kind: 'failed', why: 'unfunded' })
    expect(events).toContainEqual({ event: 'relayer.unfunded', address: account.address })
    await setWei(parseEther('1'))
    expect(await sweeper().now({ isDryRun: false })).toMatchObject({ kind: 'sent' })
    await ended()
    expect(await received()).toBe(5n)
  })
})

describe('money that the ledger does not know of', () => {
  it('an old copy of the journal pays no fee twice', async () => {
    const { fees, treasury, sweeper, received, ended, nextRun, count } = await setup()
    await fees.earn(treasury, [5n, 6n])
    const copy = fees.copy()
    await sweeper().now({ isDryRun: false })
    await ended()
    await nextRun(copy)
    expect((await sweeper().view()).due).toMatchObject({ payments: 2, amount: 11n })
    expect(await sweeper().now({ isDryRun: false })).toEqual({ kind: 'none', why: 'nothing_due' })
    expect([await received(), count('fees.transfer_found')]).toEqual([11n, 1])
    expect(await fees.ledger().swept()).toMatchObject({ sweeps: 1, payments: 2, amount: 11n })
    await fees.earn(treasury, [8n], await net.client.getBlockNumber())
    expect(await sweeper().now({ isDryRun: false })).toMatchObject({ kind: 'sent', sweep: { amount: 8n } })
    await ended()
    expect(await received()).toBe(19n)
  })

  it('a copy that lacks a sweep which no block holds yet pays no fee twice', async () => {
    const { fees, treasury, clock, sweeper, received, ended, nextRun } = await setup()
    await fees.earn(treasury, [5n, 6n])
    const copy = fees.copy()
    await net.chain.pauseMining()
    await sweeper().now({ isDryRun: false })
    const waiting = () => net.client.getTransactionCount({ address: treasury, blockTag: 'pending' })
    await until(async () => (await waiting()) === 1)
    await nextRun(copy)
    expect(await sweeper().now({ isDryRun: false })).toMatchObject({
      kind: 'failed',
      why: 'unavailable',
      message: expect.stringContaining('waits for a block, with txNonce 0'),
    })
    await sweeper().round()
    await net.chain.resumeMining()
    await until(async () => (await received()) === 11n)
    clock.advance(retryMs.max)
    await ended()
    for (let i = 0; i < confirmations; i++) await net.chain.mine()
    expect(await sweeper().now({ isDryRun: false })).toEqual({ kind: 'none', why: 'nothing_due' })
    expect([await received(), (await fees.ledger().swept()).amount, await waiting()]).toEqual([11n, 11n, 1])
  })

  it('a transfer by hand counts as fees once it is deep, rounded to the provider', async () => {
    const { fees, treasury, account, sweeper, received, ended } = await setup()
    await fees.earn(treasury, [5n, 6n, 7n])
    await net.transfer(account, feeRecipient, 6n)
    expect(await sweeper().now({ isDryRun: false })).toEqual({ kind: 'none', why: 'too_young' })
    for (let i = 0; i < confirmations; i++) await net.chain.mine()
    expect(await sweeper().now({ isDryRun: false })).toMatchObject({ kind: 'sent', sweep: { amount: 7n } })
    await ended()
    expect([await received(), (await fees.ledger().swept()).amount]).toEqual([13n, 13n])
  })
})

describe('a splitter', () => {
  const provider = addressFrom('0x00000000000000000000000000000000000a11ce')

  /** A splitter with a share of 1 %, and a distributor on the key of the test. */
  async function setupSplitter() {
    const under = await setup({ tokens: 0n })
    const { account, token, clock, fees, report, run } = under
    const hash = await net.walletOf(account).deployContract({
      abi: feeSplitterAbi,
      bytecode: feeSplitterBytecode,
      args: [token, provider, feeRecipient, 100, false],
    })
    const { contractAddress } = await until(() =>
      net.client.getTransactionReceipt({ hash }).catch(() => undefined),
    )
    const splitter = addressFrom(contractAddress ?? '')
    const pace = { minAmount: 500n, intervalMs: 60_000, retryMs }
    const limits = { distributionGas: 500_000n }
    const signed: SignedTransaction[] = []
    async function record(transaction: SignedTransaction) {
      await fees.ledger().recordSigned(transaction, [])
      signed.push(transaction)
    }
    const start = (recordSigned = record) =>
      createSplitter({ ...run(), token, splitter, recordSigned, clock, ...pace, report, limits })
    return { ...under, splitter, start, signed, record, providerBefore: await net.balanceOf(provider) }
  }

  it('is distributed when its balance is worth the gas, and not again before the interval', async () => {
    const { splitter, start, clock, received, count, providerBefore } = await setupSplitter()
    const { round, view } = start()
    await net.faucet.mintTokens(splitter, 499n)
    await round()
    expect([view(), await received()]).toEqual([{ undistributed: 499n }, 0n])
    await net.faucet.mintTokens(splitter, 501n)
    await round()
    await until(async () => {
      await net.chain.mine()
      return count('fees.distributed') > 0
    })
    expect([await received(), (await net.balanceOf(provider)) - providerBefore]).toEqual([10n, 990n])
    expect(view()).toMatchObject({ undistributed: 0n, last: { amount: 1_000n } })
    await net.faucet.mintTokens(splitter, 1_000n)
    await round()
    expect(await net.balanceOf(splitter)).toBe(1_000n)
    clock.advance(60_000)
    await round()
    await until(async () => {
      await net.chain.mine()
      return (await received()) === 20n
    })
  })

  it('is distributed by the next run when a kill came between', async () => {
    const { splitter, start, signed, record, nextRun, received } = await setupSplitter()
    await net.faucet.mintTokens(splitter, 1_000n)
    const killed = new Promise<never>(() => undefined)
    await start((transaction) => record(transaction).then(() => killed)).round()
    await until(() => signed.length > 0)
    await nextRun()
    await start().round()
    await until(async () => {
      await net.chain.mine()
      return (await received()) > 0n
    })
    expect([await received(), await net.balanceOf(splitter)]).toEqual([10n, 0n])
    // The first one was never sent, so its txNonce is free.
    expect(signed[1]?.txNonce).toBe(signed[0]?.txNonce)
  })
})
