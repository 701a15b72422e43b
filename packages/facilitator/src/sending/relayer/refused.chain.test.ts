import type { Chain } from '@svc-zerc20/devnet'
import { type Hex, parseTransaction } from 'viem'
import { beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../../../../test/support/until.js'
import { startLyingNode } from '../../../test/lying-node.js'
import { limits, startTestRelayer, useChain } from '../../../test/relayer.js'
import type { SignedTransaction } from '../../payment/records.js'

let chain: Chain
const { chain: started, onEnd } = useChain()
beforeAll(() => {
  chain = started()
})

type Transaction = ReturnType<typeof parseTransaction>

/** A relayer behind a node that takes no transaction for which there is a word against it. */
async function startRefused(against: (transaction: Transaction) => string | undefined) {
  const node = await startLyingNode(chain)
  onEnd(() => node.close())
  const started = await startTestRelayer({ chain, url: node.url })
  onEnd(() => started.relayer.close())
  const refuse = (word: typeof against) =>
    node.takeOver((response, [call]) => {
      if (call?.method !== 'eth_sendRawTransaction') return false
      const message = word(parseTransaction(call.params[0] as Hex))
      if (message === undefined) return false
      response.end(JSON.stringify({ jsonrpc: '2.0', id: call.id, error: { code: -32000, message } }))
      return true
    })
  refuse(against)
  return { ...started, refuse }
}

const tooMuchGas = ({ gas = 0n }: Transaction) => (gas > 150_000n ? 'exceeds block gas limit' : undefined)

describe('a transaction the node refuses for good', () => {
  it('does not hold up those behind it: its nonce is used up, and its owner may try otherwise', async () => {
    const { submit, passTime, minedCalls, count, events, relayer } = await startRefused(tooMuchGas)
    const large = submit('0x01', { gas: 200_000n })
    await until(() => count('relayer.send_refused') === 1)
    const small = submit('0x02')
    await passTime(limits.rebroadcastMs, () => relayer.queue().length === 0)
    expect(await large).toEqual({ kind: 'displaced', why: 'refused' })
    expect((await small).kind).toBe('mined')
    expect(await minedCalls()).toEqual(['0x', '0x02'])
    expect([count('relayer.given_up'), count('relayer.displaced')]).toEqual([1, 0])
    expect(count('relayer.send_refused')).toBe(limits.refusalsMax)
    expect(events).toContainEqual(expect.objectContaining({ event: 'relayer.given_up', txNonce: 0 }))
    expect((await submit('0x03')).kind).toBe('mined')
    expect(await minedCalls()).toEqual(['0x', '0x02', '0x03'])
  })

  it('is not given up while the refusals could pass', async () => {
    const { submit, passTime, minedCalls, count, refuse, relayer } = await startRefused(
      () => 'txpool is full',
    )
    const end = submit('0x01')
    await passTime(limits.rebroadcastMs, () => count('relayer.send_refused') > 2 * limits.refusalsMax)
    refuse(() => undefined)
    await passTime(limits.rebroadcastMs, () => relayer.queue().length === 0)
    expect((await end).kind).toBe('mined')
    expect(count('relayer.given_up')).toBe(0)
    expect(await minedCalls()).toEqual(['0x01'])
  })

  it('a raised price that is refused: the version the node did take goes out again', async () => {
    const { submit, passTime, minedCalls, signed, refuse, relayer, count } = await startRefused(
      () => undefined,
    )
    await chain.pauseMining()
    const end = submit('0x01')
    await until(() => signed.length === 1 && relayer.queue().length === 1)
    const cap = await pendingFee(signed[0])
    refuse(({ maxFeePerGas = 0n }) =>
      maxFeePerGas > cap ? 'tx price exceeds the configured cap' : undefined,
    )
    await passTime(limits.priceBumpAfterMs, () => signed.length >= 3)
    await chain.dropPending()
    await chain.resumeMining()
    await passTime(limits.rebroadcastMs, () => relayer.queue().length === 0)
    expect(await end).toMatchObject({ kind: 'mined', receipt: { transactionHash: signed[0] } })
    expect(await minedCalls()).toEqual(['0x01'])
    expect(count('relayer.given_up')).toBe(0)
  })

  it('a version that is mined all the same, while the nonce is being used up, counts as mined', async () => {
    const { submit, passTime, minedCalls, refuse, relayer, count } = await startRefused(tooMuchGas)
    const written: SignedTransaction[] = []
    const recordSigned = async (transaction: SignedTransaction) => void written.push(transaction)
    await chain.pauseMining()
    const end = submit('0x01', { gas: 200_000n, recordSigned })
    await passTime(limits.rebroadcastMs, () => count('relayer.given_up') === 1)
    await until(async () => (await chain.dropPending()).length === 1)
    refuse(() => 'txpool is full')
    // Another node had it all along.
    await chain.request('eth_sendRawTransaction', [written[0]?.raw])
    await chain.resumeMining()
    await passTime(0, () => relayer.queue().length === 0)
    expect(await end).toMatchObject({ kind: 'mined', receipt: { transactionHash: written[0]?.hash } })
    expect(await minedCalls()).toEqual(['0x01'])
    // The empty version carries nothing, so nothing is remembered of it.
    expect(written).toHaveLength(1)
  })
})

async function pendingFee(hash: string | undefined): Promise<bigint> {
  const found = await until(
    async () =>
      ((await chain.request('eth_getTransactionByHash', [hash])) as { maxFeePerGas: Hex } | null) ??
      undefined,
  )
  return BigInt(found.maxFeePerGas)
}
