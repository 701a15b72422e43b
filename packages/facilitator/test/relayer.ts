/** A relayer with its own key on the embedded chain, and helpers for its tests. */
import { type Chain, startChain } from '@svc-zerc20/devnet'
import { createGasPrices, createJsonRpc } from '@svc-zerc20/evm'
import type { Address, TxHash } from '@svc-zerc20/protocol'
import { type Hex, keccak256, parseEther, parseGwei, toHex } from 'viem'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, onTestFinished } from 'vitest'
import { movableClock } from '../../../test/support/clocks.js'
import { openRequestsTo } from '../../../test/support/open-requests.js'
import { type End, passTime } from '../../../test/support/pass-time.js'
import { until } from '../../../test/support/until.js'
import type { SignedTransaction } from '../src/payment/records.js'
import { createRelayer, type RelayerLimits } from '../src/sending/relayer/relayer.js'
import type { RelayedCall } from '../src/sending/relayer/slot.js'
import type { LogEvent } from '../src/telemetry/events.js'

export const limits: RelayerLimits = {
  receiptPollFirstMs: 2,
  receiptPollMaxMs: 10,
  quietMaxMs: 100,
  rpcBackoffMaxMs: 20,
  rebroadcastMs: 2_000,
  priceBumpAfterMs: 12_000,
  priceBumpsMax: 10,
  displacedAfterMs: 10_000,
  refusalsMax: 3,
  viewAgainMs: 1_000,
  minedKeptMax: 4,
  minedKeptBytesMax: 100_000,
  reorgPollMs: 20,
  reorgedAfterMs: 4_000,
  mintsInFlightMax: 2,
  mintQueueMax: 3,
  mintReserveGas: 100_000n,
}
export const gasPricesFreshMs = 3_000
const recipient = '0x00000000000000000000000000000000000000aa' as Address

export type RelayerOptions = {
  chain: Chain
  confirmations?: number
  reorgWatchBlocks?: number
  url?: string
  timeoutMs?: number
  wei?: bigint
  started?: boolean
  account?: PrivateKeyAccount
  changedLimits?: Partial<RelayerLimits>
}

/** One chain for a test file, restored before each test. Functions given to `onEnd` run after the test. */
export function useChain(): { chain(): Chain; onEnd(close: () => unknown): void } {
  let started: Chain | undefined
  const closers: (() => unknown)[] = []
  const chain = () => {
    if (!started) throw new Error('the chain starts before the first test')
    return started
  }
  beforeAll(async () => {
    started = await startChain()
  })
  afterAll(() => chain().close())
  afterEach(async () => {
    for (const close of closers.splice(0)) await close()
    chain().setFaults([])
    await chain().dropPending()
    await chain().resumeMining()
  })
  return { chain, onEnd: (close) => void closers.push(close) }
}

/** A relayer with its own key. Each call carries its name as data, so that it is found on chain. */
export async function startTestRelayer(options: RelayerOptions) {
  const {
    chain,
    confirmations = 1,
    reorgWatchBlocks = 4,
    url = options.chain.rpcUrl,
    timeoutMs = 5_000,
    wei = parseEther('1'),
  } = options
  const { account = privateKeyToAccount(generatePrivateKey()) } = options
  const firstBlock = Number(await chain.request('eth_blockNumber'))
  const setBalance = (to: bigint) => chain.request('hardhat_setBalance', [account.address, toHex(to)])
  await setBalance(wei)
  const movable = movableClock()
  const pauses: number[] = []
  const clock = {
    ...movable,
    sleep(ms: number, signal?: AbortSignal) {
      pauses.push(ms)
      return movable.sleep(ms, signal)
    },
  }
  const rpc = createJsonRpc({ url, timeoutMs, answerBytesMax: 100_000 })
  onTestFinished(() => rpc.close())
  const gasPrices = createGasPrices({
    rpc,
    clock,
    freshMs: gasPricesFreshMs,
    bumpPercent: 25n,
    feePerGasMax: parseGwei('2000'),
    tipPerGasMax: parseGwei('2000'),
  })
  const events: LogEvent[] = []
  const relayer = createRelayer({
    recordEmpty: async () => undefined,
    rpc,
    gasPrices,
    account,
    chainId: chain.chainId,
    confirmations,
    reorgWatchBlocks,
    clock,
    report: (event) => events.push(event),
    onHead: () => undefined,
    limits: { ...limits, ...options.changedLimits },
  })
  if (options.started !== false) await relayer.start()
  // Known prices make concurrent submits take their txNonces in the order of the calls.
  await gasPrices.current()

  const signed: TxHash[] = []
  const recordSigned = async ({ hash }: SignedTransaction) => void signed.push(hash)
  const submit = (name: Hex, change: Partial<RelayedCall> = {}) =>
    relayer.submit({ purpose: 'burn', to: recipient, data: name, gas: 40_000n, recordSigned, ...change })
  const count = (event: LogEvent['event']) => events.filter((seen) => seen.event === event).length

  /** Signs with the same key, unknown to the relayer. */
  async function foreign(nonce: number, gwei = '50'): Promise<Hex> {
    const raw = await account.signTransaction({
      type: 'eip1559',
      chainId: chain.chainId,
      nonce,
      to: recipient,
      data: '0xff',
      gas: 40_000n,
      maxFeePerGas: parseGwei(gwei),
      maxPriorityFeePerGas: parseGwei(gwei),
    })
    await chain.request('eth_sendRawTransaction', [raw])
    return keccak256(raw)
  }

  /** Names of this key's mined calls, in the order of their txNonces. */
  async function minedCalls(): Promise<string[]> {
    const head = Number(await chain.request('eth_blockNumber'))
    const calls: string[] = []
    for (let number = firstBlock + 1; number <= head; number++) {
      const block = (await chain.request('eth_getBlockByNumber', [toHex(number), true])) as Block
      for (const { from, nonce, input } of block.transactions)
        if (from === account.address.toLowerCase()) calls[Number(nonce)] = input
    }
    return calls
  }

  return {
    account,
    rpc,
    relayer,
    recordSigned,
    submit,
    foreign,
    minedCalls,
    passTime: (stepMs: number, end: End) => passTime({ clock, chain, nodeUrl: url }, stepMs, end),
    setBalance,
    clock,
    events,
    count,
    signed,
    pauses,
    /** Sleeps and requests that are under way. None: the relayer has nothing to look for. */
    underWay: () => clock.asleep() + openRequestsTo(url),
    /** Waits until the relayer has looked at the chain `more` times. */
    looks: (more: number) => {
      const before = pauses.length
      return until(() => pauses.length > before + more)
    },
  }
}

type Block = { hash: Hex; transactions: { from: string; nonce: Hex; input: Hex; hash: Hex }[] }
