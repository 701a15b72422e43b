import { verifierAbi } from '@svc-zerc20/contracts'
import type { GasPriceCeiling, JsonRpc, RpcAnswer } from '@svc-zerc20/evm'
import { parseAddress } from '@svc-zerc20/protocol'
import { type Hex, keccak256, parseGwei, parseTransaction } from 'viem'
import { expect, test } from 'vitest'
import { createSender } from './sender.js'

const privateKey: Hex = `0x${'ab'.repeat(32)}`
const to = parseAddress(`0x${'11'.repeat(20)}`)
const hex = (value: bigint | number): Hex => `0x${value.toString(16)}`

/** A clock on which every wait ends at once. */
function hastyClock() {
  let now = 0
  return {
    now: () => now,
    async sleep(ms: number) {
      now += ms
    },
  }
}

const limits = { receiptPollMs: 200, priceBumpAfterMs: 15_000, priceBumpsMax: 10, priceBumpPercent: 25n }
const minedAt = { blockNumber: hex(1), blockHash: `0x${'cd'.repeat(32)}` }
const ceilingOf = (feeGwei: number, tipGwei: number): GasPriceCeiling => ({
  feePerGasMax: parseGwei(`${feeGwei}`),
  tipPerGasMax: parseGwei(`${tipGwei}`),
})

type Node = { baseFee?: bigint; tip?: bigint; mined?: boolean; underpriced?: boolean }

/** A fake node with scripted answers that records the transactions it received. */
function scriptedNode({ baseFee, tip, mined = false, underpriced = false }: Node) {
  const taken: Hex[] = []
  const refused = (message: string) => ({ error: { code: -32000, message } })
  const answers: Record<string, (params: readonly unknown[]) => RpcAnswer> = {
    eth_estimateGas: () => ({ result: hex(100_000) }),
    eth_getTransactionCount: () => ({ result: hex(0) }),
    eth_getBlockByNumber: () => ({ result: baseFee === undefined ? {} : { baseFeePerGas: hex(baseFee) } }),
    eth_maxPriorityFeePerGas: () =>
      tip === undefined ? refused('the method does not exist') : { result: hex(tip) },
    eth_sendRawTransaction([raw]) {
      taken.push(raw as Hex)
      return underpriced ? refused('replacement transaction underpriced') : { result: keccak256(raw as Hex) }
    },
    eth_getTransactionReceipt: ([transactionHash]) => ({
      result: mined ? { transactionHash, ...minedAt, status: hex(1), logs: [] } : null,
    }),
  }
  const rpc: Pick<JsonRpc, 'batch'> = {
    batch: async (calls) =>
      calls.map(({ method, params }) => answers[method]?.(params) ?? refused(`${method} is unknown`)),
  }
  const gasPrices = () =>
    taken.map((raw) => {
      const { maxFeePerGas = 0n, maxPriorityFeePerGas = 0n } = parseTransaction(raw)
      return { maxFeePerGas, maxPriorityFeePerGas }
    })
  return { rpc, gasPrices }
}

async function send(rpc: Pick<JsonRpc, 'batch'>, ceiling: GasPriceCeiling = ceilingOf(500, 100)) {
  if (to === undefined) throw new Error('no address')
  const clock = hastyClock()
  const sender = createSender({ rpc, chainId: 1, privateKey, clock, ceiling, errors: verifierAbi, limits })
  return sender.send({ to, data: '0x' }, new AbortController().signal)
}

test('a transaction offers twice the base fee and the suggested tip', async () => {
  const { rpc, gasPrices } = scriptedNode({ baseFee: parseGwei('20'), tip: parseGwei('2'), mined: true })
  await send(rpc)
  expect(gasPrices()).toEqual([{ maxFeePerGas: parseGwei('42'), maxPriorityFeePerGas: parseGwei('2') }])
})

test('a node that suggests no tip on a chain without base fee gets the usual tip', async () => {
  const { rpc, gasPrices } = scriptedNode({ mined: true })
  await send(rpc)
  expect(gasPrices()).toEqual([{ maxFeePerGas: parseGwei('1'), maxPriorityFeePerGas: parseGwei('1') }])
})

test('whatever the node says is due, the first offer stays below the ceiling and its tip has room', async () => {
  const { rpc, gasPrices } = scriptedNode({ baseFee: parseGwei('9000'), tip: parseGwei('9000'), mined: true })
  await send(rpc)
  expect(gasPrices()).toEqual([{ maxFeePerGas: parseGwei('500'), maxPriorityFeePerGas: parseGwei('50') }])
})

test('raises end below the ceiling, where the same transaction is offered until it is given up', async () => {
  const { rpc, gasPrices } = scriptedNode({ baseFee: parseGwei('10'), tip: parseGwei('10') })
  const ceiling = ceilingOf(60, 20)
  await expect(send(rpc, ceiling)).rejects.toMatchObject({ code: 'transaction_stuck' })
  const offered = gasPrices()
  expect(new Set(offered.map(({ maxFeePerGas }) => maxFeePerGas)).size).toBe(4)
  expect(offered).toHaveLength(11)
  for (const { maxFeePerGas, maxPriorityFeePerGas } of offered) {
    expect(maxFeePerGas).toBeLessThanOrEqual(ceiling.feePerGasMax)
    expect(maxPriorityFeePerGas).toBeLessThanOrEqual(ceiling.tipPerGasMax)
  }
})

test('what the pool holds at more than the ceiling is not outbid', async () => {
  const { rpc, gasPrices } = scriptedNode({ baseFee: parseGwei('30'), tip: 0n, underpriced: true })
  const ceiling = ceilingOf(60, 20)
  await expect(send(rpc, ceiling)).rejects.toMatchObject({ code: 'transaction_stuck' })
  expect(gasPrices()).toHaveLength(1)
})
