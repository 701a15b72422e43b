import type { Chain } from '@svc-zerc20/devnet'
import { type Hex, parseEther } from 'viem'
import { beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../../../../test/support/until.js'
import { startLyingNode } from '../../../test/lying-node.js'
import {
  gasPricesFreshMs,
  limits,
  type RelayerOptions,
  startTestRelayer,
  useChain,
} from '../../../test/relayer.js'
import type { SignedTransaction } from '../../payment/records.js'
import type { RelayEnd } from './slot.js'

let chain: Chain
const { chain: started, onEnd } = useChain()
beforeAll(() => {
  chain = started()
})

async function startRelayer(options: Omit<RelayerOptions, 'chain'> = {}) {
  const started = await startTestRelayer({ chain, ...options })
  onEnd(() => started.relayer.close())
  return started
}

/** How many transactions the node holds and has not mined. */
const waiting = async () => ((await chain.request('eth_pendingTransactions')) as unknown[]).length

const hashOf = (end: RelayEnd) => (end.kind === 'mined' ? end.receipt.transactionHash : end.kind)
const kinds = (ends: RelayEnd[]) => ends.map(({ kind }) => kind)

describe('fault 11 nonces and gasPrices', () => {
  it('heals the gap an evicted transaction leaves: it is sent again and the others follow', async () => {
    const { submit, signed, passTime, relayer, minedCalls } = await startRelayer()
    await chain.pauseMining()
    const ends = Promise.all([submit('0x01'), submit('0x02'), submit('0x03')])
    await until(() => signed.length === 3)
    await until(async () => (await chain.dropPending(signed.slice(0, 1))).length === 1)
    await chain.resumeMining()
    await passTime(limits.rebroadcastMs, () => relayer.queue().length === 0)
    expect(kinds(await ends)).toEqual(['mined', 'mined', 'mined'])
    expect(await minedCalls()).toEqual(['0x01', '0x02', '0x03'])
  })

  it('heals a mempool that was lost whole', async () => {
    const { submit, passTime, relayer, minedCalls } = await startRelayer()
    await chain.pauseMining()
    const ends = Promise.all([submit('0x01'), submit('0x02')])
    await until(async () => (await waiting()) === 2)
    await chain.dropPending()
    await chain.resumeMining()
    await passTime(limits.rebroadcastMs, () => relayer.queue().length === 0)
    expect(kinds(await ends)).toEqual(['mined', 'mined'])
    expect(await minedCalls()).toEqual(['0x01', '0x02'])
  })

  it('replaces underpriced transactions at a higher price, one after another in the order of nonces', async () => {
    const { submit, passTime, relayer, minedCalls, events, signed, clock } = await startRelayer()
    chain.setFaults([
      { method: 'eth_getBlockByNumber', kind: 'result', value: { number: '0x1', baseFeePerGas: '0x1' } },
      { method: 'eth_maxPriorityFeePerGas', kind: 'result', value: '0x1' },
    ])
    clock.advance(gasPricesFreshMs)
    const first = submit('0x01')
    await until(() => signed.length === 1)
    const ends = Promise.all([first, submit('0x02'), submit('0x03')])
    await until(() => signed.length === 3)
    chain.setFaults([])
    await passTime(limits.priceBumpAfterMs, () => relayer.queue().length === 0)
    expect(kinds(await ends)).toEqual(['mined', 'mined', 'mined'])
    const raised = events.flatMap((event) => (event.event === 'relayer.price_raised' ? event.txNonce : []))
    expect(raised).toEqual(raised.toSorted())
    expect(new Set(raised)).toEqual(new Set([0, 1, 2]))
    expect(await minedCalls()).toEqual(['0x01', '0x02', '0x03'])
  })

  it('knows the older version of a replaced transaction when that is the one that was mined', async () => {
    const { submit, passTime, relayer, signed, clock } = await startRelayer()
    await chain.pauseMining()
    const end = submit('0x01')
    await until(async () => (await waiting()) === 1)
    chain.setFaults([{ method: 'eth_sendRawTransaction', kind: 'httpStatus', status: 503 }])
    clock.advance(limits.priceBumpAfterMs)
    await until(() => signed.length === 2)
    await chain.resumeMining()
    await chain.mine()
    await passTime(0, () => relayer.queue().length === 0)
    expect(hashOf(await end)).toBe(signed[0])
  })

  it('stops raising at its bound and goes on sending the last version', async () => {
    const { submit, passTime, count, signed, relayer } = await startRelayer()
    await chain.pauseMining()
    const end = submit('0x01')
    await passTime(limits.priceBumpAfterMs, () => count('relayer.price_raised') === limits.priceBumpsMax)
    const sends = () => chain.stats().calls.eth_sendRawTransaction ?? 0
    const before = sends()
    await passTime(limits.priceBumpAfterMs, () => sends() > before + 3)
    expect(signed).toHaveLength(1 + limits.priceBumpsMax)
    await chain.resumeMining()
    await passTime(limits.rebroadcastMs, () => relayer.queue().length === 0)
    expect(hashOf(await end)).toBe(signed.at(-1))
  })

  it('takes a nonce only for what was signed and recorded', async () => {
    const { submit, minedCalls } = await startRelayer()
    await expect(
      submit('0x01', { recordSigned: () => Promise.reject(new Error('disk full')) }),
    ).rejects.toThrow('disk full')
    expect(kinds([await submit('0x02')])).toEqual(['mined'])
    expect(await minedCalls()).toEqual(['0x02'])
  })
})

describe('fault 12 out of gas money', () => {
  it('says so, keeps the queue at its old gasPrices, and goes on in order after funding', async () => {
    const { submit, setBalance, passTime, count, signed, relayer, minedCalls, clock, looks } =
      await startRelayer({
        wei: 0n,
      })
    const ends = Promise.all([submit('0x01'), submit('0x02'), submit('0x03')])
    await until(() => count('relayer.unfunded') >= 3)
    await passTime(limits.priceBumpAfterMs, 5)
    expect(count('relayer.price_raised')).toBe(0)
    expect(relayer.queue().length).toBe(3)
    await chain.pauseMining()
    await setBalance(parseEther('1'))
    clock.advance(limits.rebroadcastMs)
    await until(async () => (await waiting()) === 3)
    await looks(3)
    await chain.resumeMining()
    expect(count('relayer.price_raised')).toBe(0)
    expect((await ends).map(hashOf)).toEqual(signed)
    expect(await minedCalls()).toEqual(['0x01', '0x02', '0x03'])
  })
})

describe('fault 17 the answer to a broadcast is lost', () => {
  it.each([
    { kind: 'dropResponse' },
    { kind: 'httpStatus', status: 502, executed: true },
    { kind: 'error', message: 'internal error', executed: true },
    { kind: 'result', value: null, executed: true },
  ] as const)('sends nothing under a second nonce ($kind)', async (effect) => {
    const { submit, minedCalls, signed, passTime, relayer } = await startRelayer()
    chain.setFaults([{ method: 'eth_sendRawTransaction', ...effect }])
    const ends = Promise.all([submit('0x01'), submit('0x02')])
    await passTime(limits.rebroadcastMs, () => signed.length >= 2 && relayer.queue().length === 0)
    expect(kinds(await ends)).toEqual(['mined', 'mined'])
    expect(await minedCalls()).toEqual(['0x01', '0x02'])
  })

  it('sees the receipt although the broadcast hangs', async () => {
    const { submit, signed } = await startRelayer({ timeoutMs: 600_000 })
    chain.setFaults([{ method: 'eth_sendRawTransaction', kind: 'hang', executed: true }])
    expect(hashOf(await submit('0x01'))).toBe(signed[0])
  })

  it('goes on when the node comes back', async () => {
    const { submit, passTime, relayer, count, minedCalls } = await startRelayer()
    await submit('0x01')
    chain.setFaults([{ method: '*', kind: 'dropResponse', executed: false }])
    const end = submit('0x02')
    await until(() => count('rpc.failed') >= 3)
    chain.setFaults([])
    await passTime(limits.rebroadcastMs, () => relayer.queue().length === 0)
    expect(kinds([await end])).toEqual(['mined'])
    expect(await minedCalls()).toEqual(['0x01', '0x02'])
  })

  it('refuses before anything is signed when the price cannot be read, and loses no nonce', async () => {
    const { submit, signed, minedCalls, clock } = await startRelayer()
    clock.advance(gasPricesFreshMs)
    chain.setFaults([{ method: '*', kind: 'httpStatus', status: 500 }])
    await expect(submit('0x01')).rejects.toMatchObject({ code: 'rpc_unreachable' })
    expect(signed).toEqual([])
    chain.setFaults([])
    await submit('0x02')
    expect(await minedCalls()).toEqual(['0x02'])
  })
})

describe('someone else uses the key', () => {
  it('gives the call back once the foreign transaction is mined, and not before', async () => {
    const { submit, foreign, passTime, relayer, count, minedCalls } = await startRelayer()
    await chain.pauseMining()
    await foreign(0)
    const end = submit('0x01')
    await until(() => count('relayer.send_refused') > 0)
    await chain.resumeMining()
    await passTime(limits.displacedAfterMs, () => relayer.queue().length === 0)
    expect(await end).toEqual({ kind: 'displaced', why: 'foreign' })
    await submit('0x02')
    expect(await minedCalls()).toEqual(['0xff', '0x02'])
  })

  it('counts again, so that seven foreign transactions cost one displacement', async () => {
    const { submit, foreign, passTime, relayer, count, minedCalls } = await startRelayer()
    for (let nonce = 0; nonce < 7; nonce++) await foreign(nonce)
    const end = submit('0x01')
    await passTime(limits.displacedAfterMs, () => count('relayer.displaced') === 1)
    expect(await end).toEqual({ kind: 'displaced', why: 'foreign' })
    await submit('0x02')
    expect((await minedCalls()).at(-1)).toBe('0x02')
    expect([count('relayer.displaced'), relayer.queue().length]).toEqual([1, 0])
  })
})

describe('a transaction of an earlier run', () => {
  it('that another account signed is not taken up, and our txNonces do not follow its', async () => {
    const { relayer, submit, minedCalls } = await startRelayer({ started: false })
    const other = await startRelayer({ started: false })
    for (let nonce = 0; nonce < 5; nonce++) await other.foreign(nonce)
    await other.relayer.start()
    const versions: SignedTransaction[] = []
    const recordSigned = async (transaction: SignedTransaction) => void versions.push(transaction)
    const ended = await other.submit('0x01', { recordSigned })
    if (ended.kind !== 'mined') throw new Error(ended.why)
    const earlier = { purpose: 'burn', recordSigned, versions } as const
    expect(await relayer.resume(earlier)).toEqual({ kind: 'displaced', why: 'foreign' })
    relayer.watch(earlier, ended.receipt)
    await relayer.start()
    await submit('0x02')
    expect(await minedCalls()).toEqual(['0x02'])
  })
})

describe('a nonce below ours that nobody uses', () => {
  it('is filled when what an earlier process sent was evicted', async () => {
    const { submit, foreign, passTime, relayer, minedCalls, events } = await startRelayer({ started: false })
    await chain.pauseMining()
    const leftovers = [await foreign(0), await foreign(1)]
    await relayer.start()
    const end = submit('0x01')
    await until(() => relayer.queue().length === 1)
    await chain.dropPending(leftovers)
    await chain.resumeMining()
    await passTime(limits.priceBumpAfterMs, () => relayer.queue().length === 0)
    expect(kinds([await end])).toEqual(['mined'])
    expect(await minedCalls()).toEqual(['0x', '0x', '0x01'])
    const filled = events.flatMap((event) => (event.event === 'relayer.gap_filled' ? event.txNonce : []))
    expect(filled).toEqual([0, 1])
  })

  it('is filled also when the leftover is still there, at a price that is never mined', async () => {
    const { submit, foreign, passTime, relayer, minedCalls } = await startRelayer({ started: false })
    await foreign(0, '0.000000001')
    // The embedded node does not count what it would not mine; others do.
    chain.setFaults([{ method: 'eth_getTransactionCount', kind: 'result', value: '0x1', times: 1 }])
    await relayer.start()
    const end = submit('0x01')
    await until(() => relayer.queue().length === 1)
    await passTime(limits.priceBumpAfterMs, () => relayer.queue().length === 0)
    expect(kinds([await end])).toEqual(['mined'])
    expect(await minedCalls()).toEqual(['0x', '0x01'])
  })

  it('waits for leftovers that are mined in time', async () => {
    const { submit, foreign, relayer, minedCalls, count } = await startRelayer({ started: false })
    await chain.pauseMining()
    await foreign(0)
    await relayer.start()
    const end = submit('0x01')
    await until(() => relayer.queue().length === 1)
    await chain.resumeMining()
    expect(kinds([await end])).toEqual(['mined'])
    expect(await minedCalls()).toEqual(['0xff', '0x01'])
    expect(count('relayer.gap_filled')).toBe(0)
  })
})

describe('a reorg before confirmation', () => {
  it.each([true, false])(
    'ends with the receipt of the block that stayed (kept by the node: %s)',
    async (kept) => {
      const { submit, passTime, relayer, signed, looks } = await startRelayer({ confirmations: 2 })
      const end = submit('0x01')
      const receiptOf = async (hash: unknown) =>
        (await chain.request('eth_getTransactionReceipt', [hash])) as { blockHash: Hex } | null
      const lost = await until(async () => (signed[0] && (await receiptOf(signed[0]))) ?? undefined)
      await looks(2)
      await chain.pauseMining()
      await chain.reorg(1, { keepTransactions: kept })
      await chain.resumeMining()
      await passTime(limits.rebroadcastMs, async () => (await receiptOf(signed[0])) !== null)
      expect(relayer.queue().length).toBe(1)
      await chain.mine()
      const ended = await end
      const stayed = await receiptOf(signed[0])
      expect(ended).toMatchObject({ kind: 'mined', receipt: { blockHash: stayed?.blockHash } })
      expect(stayed?.blockHash).not.toBe(lost.blockHash)
    },
  )
})

describe('fault 18 a node that lies or lags', () => {
  it('waits for a receipt that comes later than its block', async () => {
    const { submit, signed, count, pauses } = await startRelayer()
    chain.setFaults([{ method: 'eth_getTransactionReceipt', kind: 'result', value: null, times: 12 }])
    expect(hashOf(await submit('0x01'))).toBe(signed[0])
    expect(count('relayer.displaced')).toBe(0)
    expect(pauses.length).toBeGreaterThan(6)
  })

  it('believes in no displacement while receipts cannot be read', async () => {
    const { submit, signed, passTime, relayer, count, minedCalls } = await startRelayer()
    chain.setFaults([{ method: 'eth_getTransactionReceipt', kind: 'error', message: 'indexing in progress' }])
    const end = submit('0x01')
    await until(async () => (await minedCalls()).length === 1)
    await passTime(limits.displacedAfterMs, 5)
    expect([relayer.queue().length, count('relayer.displaced')]).toEqual([1, 0])
    chain.setFaults([])
    expect(hashOf(await end)).toBe(signed[0])
  })

  it('sees the receipts of others while one cannot be read', async () => {
    const node = await startLyingNode(chain)
    onEnd(() => node.close())
    const { submit, signed, relayer } = await startRelayer({ url: node.url })
    node.lie(({ method, params }) =>
      method === 'eth_getTransactionReceipt' && params[0] === signed[0] ? 'no receipt' : undefined,
    )
    const first = submit('0x01')
    await until(() => signed.length === 1)
    expect(hashOf(await submit('0x02'))).toBe(signed[1])
    expect(relayer.queue().length).toBe(1)
    node.tellTruth()
    expect(hashOf(await first)).toBe(signed[0])
  })

  it('waits for a node whose head is old', async () => {
    const { submit, signed, looks, relayer, minedCalls } = await startRelayer()
    chain.setFaults([{ method: '*', kind: 'lag', blocks: 1 }])
    const end = submit('0x01')
    await until(async () => (await minedCalls()).length === 1)
    await looks(3)
    expect(relayer.queue().length).toBe(1)
    await chain.mine()
    expect(hashOf(await end)).toBe(signed[0])
  })

  it('believes nothing of what is said for another chain', async () => {
    const { submit, signed, passTime, relayer, count, events, minedCalls } = await startRelayer()
    await chain.pauseMining()
    const end = submit('0x01')
    await until(() => signed.length === 1)
    chain.setFaults([
      { method: 'eth_chainId', kind: 'result', value: '0x1' },
      { method: 'eth_getTransactionCount', kind: 'result', value: '0x3e8' },
    ])
    await passTime(limits.displacedAfterMs, 5)
    expect([relayer.queue().length, count('relayer.displaced')]).toEqual([1, 0])
    expect(events.at(-1)).toMatchObject({ event: 'rpc.failed', err: { code: 'wrong_chain' } })
    chain.setFaults([])
    await chain.resumeMining()
    await passTime(limits.rebroadcastMs, () => relayer.queue().length === 0)
    expect(kinds([await end])).toEqual(['mined'])
    expect(await minedCalls()).toEqual(['0x01'])
  })

  it.each([
    ['nothing', ''],
    ['words', '<html>bad gateway</html>'],
    ['half of it', '[{"jsonrpc":"2.0","id":1,"resu'],
    ['null', 'null'],
    ['an empty list', '[]'],
    ['answers to nobody', '[{"id":-1,"result":"0x0"}]'],
    ['too much', ' '.repeat(200_000)],
  ])('goes on after answers that are %s', async (_what, text) => {
    const node = await startLyingNode(chain)
    onEnd(() => node.close())
    const { submit, passTime, relayer, count, minedCalls } = await startRelayer({ url: node.url })
    await submit('0x01')
    node.takeOver((response) => Boolean(response.end(text)))
    const end = submit('0x02')
    await until(() => count('rpc.failed') >= 3)
    node.tellTruth()
    await passTime(limits.rebroadcastMs, () => relayer.queue().length === 0)
    expect(kinds([await end])).toEqual(['mined'])
    expect(await minedCalls()).toEqual(['0x01', '0x02'])
  })

  it.each([
    ['eth_getTransactionCount', null],
    ['eth_getTransactionCount', 'many'],
    ['eth_getBlockByNumber', null],
    ['eth_getBlockByNumber', {}],
    ['eth_chainId', null],
  ])('does nothing on a malformed answer of %s: %j', async (method, value) => {
    const { submit, passTime, relayer, count } = await startRelayer()
    await submit('0x01')
    await chain.pauseMining()
    chain.setFaults([{ method, kind: 'result', value }])
    const end = submit('0x02')
    await until(() => relayer.queue().length === 1)
    await passTime(limits.displacedAfterMs / 5, 10)
    expect([count('relayer.displaced'), count('relayer.gap_filled')]).toEqual([0, 0])
    chain.setFaults([])
    await chain.resumeMining()
    await passTime(limits.rebroadcastMs, () => relayer.queue().length === 0)
    expect(kinds([await end])).toEqual(['mined'])
  })
})

describe('the watch', () => {
  it('looks less and less often, down to its longest pause, and stops when nothing is out', async () => {
    const { submit, looks, pauses, underWay } = await startRelayer({ reorgWatchBlocks: 0 })
    await chain.pauseMining()
    const end = submit('0x01')
    await looks(12)
    const { receiptPollFirstMs: first, receiptPollMaxMs: longest } = limits
    expect(pauses.slice(-6)).toEqual(Array(6).fill(longest))
    expect(Math.min(...pauses)).toBe(first)
    await chain.resumeMining()
    await end
    await until(() => underWay() === 0)
  })

  it('asks for the head alone while it stays, and for everything when it moved or a while has passed', async () => {
    const hourMs = 3_600_000
    const changedLimits = { viewAgainMs: hourMs, priceBumpAfterMs: 10 * hourMs }
    const { submit, looks, clock } = await startRelayer({ reorgWatchBlocks: 0, changedLimits })
    await chain.pauseMining()
    const end = submit('0x01')
    await looks(3)
    const asked = async (work: () => Promise<unknown>) => {
      const before = { ...chain.stats().calls }
      await work()
      const { calls } = chain.stats()
      return (method: string) => (calls[method] ?? 0) - (before[method] ?? 0)
    }
    const idle = await asked(() => looks(10))
    expect(idle('eth_getBlockByNumber')).toBeGreaterThanOrEqual(9)
    expect(idle('eth_getTransactionReceipt')).toBe(0)
    const later = await asked(async () => {
      clock.advance(hourMs)
      await looks(3)
    })
    expect([later('eth_getTransactionReceipt'), later('eth_getTransactionCount')]).toEqual([2, 1])
    const mined = await asked(async () => {
      await chain.resumeMining()
      await end
    })
    expect(mined('eth_getTransactionReceipt')).toBe(1)
  })

  it('backs off while the node is down', async () => {
    const { submit, looks, pauses, passTime, relayer } = await startRelayer()
    await submit('0x01')
    chain.setFaults([{ method: '*', kind: 'httpStatus', status: 503 }])
    const end = submit('0x02')
    await looks(12)
    expect(pauses.at(-1)).toBe(limits.rpcBackoffMaxMs)
    chain.setFaults([])
    await passTime(limits.rebroadcastMs, () => relayer.queue().length === 0)
    expect(kinds([await end])).toEqual(['mined'])
  })

  it('ends with close: no timer and no request is left, and nothing more is taken', async () => {
    const { submit, relayer, underWay, signed, looks, clock, pauses } = await startRelayer()
    await chain.pauseMining()
    void submit('0x01')
    await until(() => signed.length === 1)
    await looks(3)
    relayer.close()
    await until(() => underWay() === 0)
    const { length: pausesBefore } = pauses
    clock.advance(limits.priceBumpAfterMs)
    // Every refused submit is a round trip for the price: time enough for anything that still ran to show.
    for (let round = 0; round < 20; round++) {
      clock.advance(gasPricesFreshMs)
      await expect(submit('0x02')).rejects.toMatchObject({ code: 'closed' })
    }
    expect([pauses.length, underWay()]).toEqual([pausesBefore, 0])
    expect(signed).toHaveLength(1)
  })
})
