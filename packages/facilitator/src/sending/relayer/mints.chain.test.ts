import type { Chain } from '@svc-zerc20/devnet'
import { beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../../../../test/support/until.js'
import { limits, type RelayerOptions, startTestRelayer, useChain } from '../../../test/relayer.js'
import type { SignedTransaction } from '../../payment/records.js'

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

const purpose = 'mint'

describe('mints in the queue of burns', () => {
  it('only so many mints are out at once: burns pass the others, and too many are refused', async () => {
    const { submit, relayer, minedCalls } = await startRelayer()
    await chain.pauseMining()
    const mints = (['0xa1', '0xa2', '0xa3', '0xa4', '0xa5'] as const).map((name) => submit(name, { purpose }))
    await expect(submit('0xa6', { purpose })).rejects.toMatchObject({ code: 'relayer_busy' })
    await until(() => relayer.queue().length === limits.mintsInFlightMax)
    const burn = submit('0x01')
    await until(() => relayer.queue().length === limits.mintsInFlightMax + 1)
    expect(relayer.queue().map((queued) => queued.purpose)).toEqual(['mint', 'mint', 'burn'])
    await chain.resumeMining()
    const ends = await Promise.all([...mints, burn])
    expect(ends.map(({ kind }) => kind)).toEqual(ends.map(() => 'mined'))
    const calls = await minedCalls()
    expect(calls.indexOf('0x01')).toBe(limits.mintsInFlightMax)
    expect(calls.toSorted()).toEqual(['0x01', '0xa1', '0xa2', '0xa3', '0xa4', '0xa5'])
  })

  it('a mint that would leave no money for burns is refused before it has a nonce, and named', async () => {
    const { submit, count, setBalance, signed, minedCalls } = await startRelayer({ wei: 0n })
    const { maxFeePerGas } = await currentFee()
    await setBalance(100_000n * maxFeePerGas)
    await expect(submit('0xa1', { purpose })).rejects.toMatchObject({ code: 'relayer_unfunded' })
    expect([count('relayer.unfunded'), signed]).toEqual([1, []])
    expect((await submit('0x01')).kind).toBe('mined')
    expect(await minedCalls()).toEqual(['0x01'])
  })

  it('a mint that failed before it was signed leaves its place to the next', async () => {
    const { submit, minedCalls } = await startRelayer()
    const recordSigned = () => Promise.reject(new Error('disk full'))
    for (let i = 0; i < limits.mintsInFlightMax + 1; i++) {
      await expect(submit('0xa1', { purpose, recordSigned })).rejects.toThrow('disk full')
    }
    expect((await submit('0xa2', { purpose })).kind).toBe('mined')
    expect(await minedCalls()).toEqual(['0xa2'])
  })

  it('mints of an earlier run are sent again, count as out, and burns wait for no further mint', async () => {
    const first = await startRelayer()
    chain.setFaults([{ method: 'eth_sendRawTransaction', kind: 'httpStatus', status: 503 }])
    const written: SignedTransaction[] = []
    const recordSigned = async (transaction: SignedTransaction) => void written.push(transaction)
    // One by one: each asks for the balance first, and whichever answer comes first has the first nonce.
    void first.submit('0xa1', { purpose, recordSigned })
    await until(() => written.length === 1)
    void first.submit('0xa2', { purpose, recordSigned })
    await until(() => written.length === 2)
    first.relayer.close()
    chain.setFaults([])

    await chain.pauseMining()
    const second = await startRelayer({ account: first.account, started: false })
    const resumed = written.map((version) =>
      second.relayer.resume({ purpose, versions: [version], recordSigned }),
    )
    await second.relayer.start()
    const mint = second.submit('0xa3', { purpose })
    const burn = second.submit('0x01')
    await until(() => second.relayer.queue().length === 3)
    expect(second.relayer.queue().map((queued) => queued.purpose)).toEqual(['mint', 'mint', 'burn'])
    await chain.resumeMining()
    const ends = await Promise.all([...resumed, burn, mint])
    expect(ends.map(({ kind }) => kind)).toEqual(ends.map(() => 'mined'))
    expect(await second.minedCalls()).toEqual(['0xa1', '0xa2', '0x01', '0xa3'])
    expect(written).toHaveLength(2)
  })
})

async function currentFee() {
  const block = (await chain.request('eth_getBlockByNumber', ['latest', false])) as { baseFeePerGas: string }
  const tip = BigInt((await chain.request('eth_maxPriorityFeePerGas')) as string)
  return { maxFeePerGas: BigInt(block.baseFeePerGas) * 2n + tip }
}
