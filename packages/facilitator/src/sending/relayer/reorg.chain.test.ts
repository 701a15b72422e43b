import type { Chain } from '@svc-zerc20/devnet'
import { beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../../../../test/support/until.js'
import { startLyingNode } from '../../../test/lying-node.js'
import { limits, type RelayerOptions, startTestRelayer, useChain } from '../../../test/relayer.js'
import type { RelayEnd, Reorg } from './slot.js'

let chain: Chain
const { chain: started, onEnd } = useChain()
beforeAll(() => {
  chain = started()
})

async function startRelayer(options: Omit<RelayerOptions, 'chain'> = {}) {
  const started = await startTestRelayer({ chain, ...options })
  onEnd(() => started.relayer.close())
  const reorged: Promise<RelayEnd>[] = []
  const moved: Promise<RelayEnd>[] = []
  const onReorged = (ended: Promise<RelayEnd>, how: Reorg) =>
    void (how === 'gone' ? reorged : moved).push(ended)
  return { ...started, reorged, moved, onReorged }
}

describe('fault 9 a reorg takes back what was mined', () => {
  it.each([true, false])(
    'the same bytes are mined again, and their owner hears of it (kept by the node: %s)',
    async (keepTransactions) => {
      const { submit, onReorged, reorged, passTime, minedCalls, signed, count, relayer } =
        await startRelayer()
      const first = await submit('0x01', { onReorged })
      await chain.pauseMining()
      await chain.reorg(1, { keepTransactions })
      await passTime(limits.reorgedAfterMs, () => reorged.length === 1)
      expect(relayer.queue()).toMatchObject([{ txNonce: 0, txHash: signed[0] }])
      await chain.resumeMining()
      await passTime(limits.rebroadcastMs, () => relayer.queue().length === 0)
      const again = await reorged[0]
      expect([first.kind, again?.kind, count('relayer.reorged')]).toEqual(['mined', 'mined', 1])
      expect(await minedCalls()).toEqual(['0x01'])
      expect(signed).toHaveLength(1)
    },
  )

  it('also several times over, and under transactions that came later', async () => {
    const { submit, onReorged, reorged, passTime, minedCalls, relayer } = await startRelayer()
    const height = async () => Number(await chain.request('eth_blockNumber'))
    const before = await height()
    await submit('0x01', { onReorged })
    await submit('0x02', { onReorged })
    for (let times = 1; times <= 2; times++) {
      await chain.pauseMining()
      await chain.reorg((await height()) - before, { keepTransactions: false })
      await passTime(limits.reorgedAfterMs, () => reorged.length === 2 * times)
      await chain.resumeMining()
      await passTime(limits.rebroadcastMs, () => relayer.queue().length === 0)
    }
    expect((await Promise.all(reorged)).map(({ kind }) => kind)).toEqual(Array(4).fill('mined'))
    expect(await minedCalls()).toEqual(['0x01', '0x02'])
  })

  it('also when the node once named a head that is far away: what was mined is still watched', async () => {
    const node = await startLyingNode(chain)
    onEnd(() => node.close())
    const { submit, onReorged, reorged, passTime, minedCalls, looks } = await startRelayer({ url: node.url })
    await submit('0x01', { onReorged })
    const { hasLied } = node.lieAboutHeadOnce()
    await until(hasLied)
    await looks(2)
    await chain.pauseMining()
    await chain.reorg(1, { keepTransactions: false })
    await passTime(limits.reorgedAfterMs, () => reorged.length === 1)
    await chain.resumeMining()
    await passTime(limits.rebroadcastMs, async () => (await minedCalls()).length === 1)
    expect((await reorged[0])?.kind).toBe('mined')
  })

  it('says that the call is displaced when its nonce was used otherwise on the new branch', async () => {
    const { submit, onReorged, reorged, passTime, minedCalls, foreign, count } = await startRelayer()
    await submit('0x01', { onReorged })
    await chain.reorg(1, { keepTransactions: false })
    await foreign(0)
    await passTime(limits.reorgedAfterMs, () => reorged.length === 1)
    await passTime(limits.displacedAfterMs, () => count('relayer.displaced') === 1)
    expect(await reorged[0]).toEqual({ kind: 'displaced', why: 'foreign' })
    expect(await minedCalls()).toEqual(['0xff'])
  })

  it('what is sent again and mined at once is no alarm', async () => {
    const { submit, onReorged, reorged, moved, passTime, minedCalls, count } = await startRelayer()
    await submit('0x01', { onReorged })
    await chain.reorg(1, { keepTransactions: false })
    expect(await minedCalls()).toEqual([])
    await passTime(limits.rebroadcastMs, () => moved.length === 1)
    expect((await minedCalls()).length).toBe(1)
    expect([reorged.length, count('relayer.reorged')]).toEqual([0, 0])
  })

  it('what is mined again while the node takes its time to answer is no alarm', async () => {
    const node = await startLyingNode(chain)
    onEnd(() => node.close())
    const { submit, onReorged, reorged, moved, signed, clock, count } = await startRelayer({ url: node.url })
    await submit('0x01', { onReorged })
    const hourMs = 3_600_000
    let answers = 0
    // The first two answers say truly that no block holds it. They are heard an hour later, the second one when a block
    // holds it again.
    node.lie(async ({ method, params: [hash] }) => {
      if (method !== 'eth_getTransactionReceipt' || hash !== signed[0] || ++answers > 2) return undefined
      if (answers === 2) await chain.resumeMining()
      await chain.idle()
      clock.advance(hourMs)
      return undefined
    })
    await chain.pauseMining()
    await chain.reorg(1)
    await until(() => moved.length === 1)
    expect([reorged.length, count('relayer.reorged')]).toEqual([0, 0])
  })

  it('what only moved to another block is no alarm, and its owner hears of its new place once', async () => {
    const { submit, onReorged, reorged, moved, passTime, minedCalls, count, relayer } = await startRelayer()
    const first = await submit('0x01', { onReorged })
    await chain.reorg(1)
    await chain.mine()
    await until(async () => (await minedCalls()).length === 1)
    await until(() => moved.length === 1)
    const now = await moved[0]
    expect([first.kind, now?.kind]).toEqual(['mined', 'mined'])
    expect(now).not.toEqual(first)
    await passTime(limits.reorgedAfterMs, 4)
    expect([moved.length, reorged.length, count('relayer.reorged')]).toEqual([1, 0, 0])
    expect(relayer.queue()).toEqual([])
  })

  it('a node that lags for a moment is no alarm', async () => {
    const { submit, onReorged, reorged, looks, passTime } = await startRelayer()
    await chain.mine(2)
    await submit('0x01', { onReorged })
    chain.setFaults([{ method: '*', kind: 'lag', blocks: 1 }])
    await looks(4)
    chain.setFaults([])
    await looks(4)
    await passTime(limits.reorgedAfterMs, 4)
    expect(reorged).toEqual([])
  })

  it('is not believed while receipts cannot be read', async () => {
    const node = await startLyingNode(chain)
    onEnd(() => node.close())
    const { submit, onReorged, reorged, passTime } = await startRelayer({ url: node.url })
    await submit('0x01', { onReorged })
    node.lie(({ method, params }, truth) => {
      if (method === 'eth_getTransactionReceipt') return 'indexing'
      const isBlock = method === 'eth_getBlockByNumber'
      return isBlock && truth ? { ...truth, hash: `0x${'9'.repeat(64)}`, asked: params[0] } : undefined
    })
    await passTime(limits.reorgedAfterMs, 5)
    expect(reorged).toEqual([])
  })

  it('the watch ends when the transaction is deep enough: nothing more is asked', async () => {
    const { submit, underWay, pauses } = await startRelayer({ reorgWatchBlocks: 3 })
    await submit('0x01')
    await chain.mine(2)
    const before = pauses.length
    await until(() => pauses.length > before + 4)
    await chain.mine()
    await until(() => underWay() === 0)
    const ended = pauses.length
    await chain.mine()
    await new Promise((resolve) => setTimeout(resolve, 5 * limits.reorgPollMs))
    expect([pauses.length, underWay()]).toEqual([ended, 0])
  })

  it('keeps no more than its bound, the newest', async () => {
    const { submit, onReorged, reorged, passTime, relayer, minedCalls, signed } = await startRelayer({
      reorgWatchBlocks: 100,
    })
    const names = ['0x01', '0x02', '0x03', '0x04', '0x05', '0x06'] as const
    for (const name of names) await submit(name, { onReorged })
    expect(names.length).toBeGreaterThan(limits.minedKeptMax)
    await chain.reorg(limits.minedKeptMax + 1, { keepTransactions: false })
    await passTime(limits.reorgedAfterMs, () => reorged.length === limits.minedKeptMax)
    // The nonce of the one that was not kept any more is filled, so that those behind it go on.
    await passTime(limits.priceBumpAfterMs, () => relayer.queue().length === 0)
    expect(await minedCalls()).toEqual(['0x01', '0x', '0x03', '0x04', '0x05', '0x06'])
    expect(signed).toHaveLength(names.length)
  })
})
