import { parseAddress } from '@svc-zerc20/protocol'
import { describe, expect, it } from 'vitest'
import type { JsonRpc, RpcAnswer } from './json-rpc.js'
import { createLogSpan, scanLogs } from './scan-logs.js'

const address = parseAddress(`0x${'a1'.repeat(20)}`) ?? expect.fail()
const filter = { address, topics: [] }

/** A fake node with one log a block, which refuses requests for more than `blocksMax` blocks. */
function nodeWith({ head, blocksMax }: { head: number; blocksMax: number }) {
  const spans: string[] = []
  function answer(method: string, [first]: readonly unknown[]): RpcAnswer {
    if (method === 'eth_getBlockByNumber') {
      const number = first === 'latest' ? head : Number(first)
      return { result: { number: `0x${number.toString(16)}`, hash: `0x${'ab'.repeat(32)}` } }
    }
    const { fromBlock, toBlock } = first as { fromBlock: string; toBlock: string }
    const [from, to] = [Number(fromBlock), Number(toBlock)]
    if (to - from + 1 > blocksMax) return { error: { code: -32000, message: 'block range too large' } }
    spans.push(`${from}-${to}`)
    return { result: Array.from({ length: to - from + 1 }, () => ({})) }
  }
  const rpc: Pick<JsonRpc, 'batch'> = {
    batch: async (calls) => calls.map(({ method, params }) => answer(method, params)),
  }
  return { rpc, spans }
}

describe('a scan of logs', () => {
  it('asks for fewer blocks at once while the node refuses, and for more again', async () => {
    const { rpc, spans } = nodeWith({ head: 39, blocksMax: 7 })
    let logs = 0
    for await (const span of scanLogs(rpc, filter, { fromBlock: 0, spanBlocksMax: 32 })) {
      logs += span.logs.length
    }
    expect(logs).toBe(40)
    expect(spans[0]).toBe('0-3')
  })

  it('gives up when the node refuses a single block', async () => {
    const { rpc } = nodeWith({ head: 2, blocksMax: 0 })
    const scan = scanLogs(rpc, filter, { fromBlock: 0, spanBlocksMax: 32 })
    await expect(scan.next()).rejects.toThrow('block range too large')
  })

  it('ends with the block that it was told to end with', async () => {
    const { rpc, spans } = nodeWith({ head: 39, blocksMax: 100 })
    const scan = scanLogs(rpc, filter, { fromBlock: 3, toBlock: 12, spanBlocksMax: 8 })
    for await (const { lastBlock } of scan) expect(lastBlock).toBeLessThanOrEqual(12)
    expect(spans).toEqual(['3-10', '11-12'])
  })
})

describe('the span of a question', () => {
  it('shrinks to a fraction of what was refused, grows to twice its size, and keeps to its bounds', () => {
    const span = createLogSpan({ blocksMax: 1_000, shrinkBy: 8 })
    expect(span.lastBlock(1, 5_000)).toBe(1_000)
    expect(span.refused(1_000)).toBe(true)
    expect(span.lastBlock(1, 5_000)).toBe(125)
    // The last request, close to the head, was smaller than the span.
    expect(span.refused(16)).toBe(true)
    expect(span.lastBlock(1, 5_000)).toBe(2)
    expect([span.refused(2), span.refused(1)]).toEqual([true, false])
    for (let i = 0; i < 12; i++) span.answered()
    expect(span.lastBlock(1, 5_000)).toBe(1_000)
  })
})
