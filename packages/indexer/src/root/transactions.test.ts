import { parseAddress, SvcError } from '@svc-zerc20/protocol'
import { type Hex, keccak256, parseGwei, parseTransaction } from 'viem'
import { expect, test } from 'vitest'
import type { Clock } from '../clock.js'
import type { JsonRpc } from '../json-rpc.js'
import { defaultCeilingGwei, feeCeiling } from './fees.js'
import { createTransactions } from './transactions.js'

const privateKey: Hex = `0x${'ab'.repeat(32)}`
const to = parseAddress(`0x${'11'.repeat(20)}`)
const hex = (value: bigint | number): Hex => `0x${value.toString(16)}`

/** Time that passes as fast as somebody waits for it. */
function hastyClock(): Clock {
  let now = 0
  return {
    now: () => now,
    async sleep(ms) {
      now += ms
    },
  }
}

type Node = { baseFee?: bigint; tip?: bigint; mined?: boolean; underpriced?: boolean }

/** A node that says what a test wants it to, and the transactions it was given. */
function scriptedNode({ baseFee, tip, mined = false, underpriced = false }: Node) {
  const taken: Hex[] = []
  const answers: Record<string, (params: readonly unknown[]) => unknown> = {
    eth_estimateGas: () => hex(100_000),
    eth_getTransactionCount: () => hex(0),
    eth_getBlockByNumber: () => (baseFee === undefined ? {} : { baseFeePerGas: hex(baseFee) }),
    eth_maxPriorityFeePerGas() {
      if (tip === undefined) throw new SvcError('rpc_error', 'the method does not exist')
      return hex(tip)
    },
    eth_sendRawTransaction([raw]) {
      taken.push(raw as Hex)
      if (underpriced) throw new SvcError('rpc_error', 'replacement transaction underpriced')
      return keccak256(raw as Hex)
    },
    eth_getTransactionReceipt: ([transactionHash]) =>
      mined ? { transactionHash, gasUsed: hex(1), status: hex(1) } : null,
  }
  const call: JsonRpc['call'] = async (method, params) => answers[method]?.(params)
  const rpc: JsonRpc = {
    call,
    batch: (calls) => Promise.all(calls.map((one) => call(one.method, one.params))),
  }
  const fees = () =>
    taken.map((raw) => {
      const { maxFeePerGas = 0n, maxPriorityFeePerGas = 0n } = parseTransaction(raw)
      return { maxFeePerGas, maxPriorityFeePerGas }
    })
  return { rpc, fees }
}

async function send(rpc: JsonRpc, ceiling = feeCeiling(defaultCeilingGwei)) {
  if (to === undefined) throw new Error('no address')
  const transactions = createTransactions({ rpc, chainId: 1, privateKey, clock: hastyClock(), ceiling })
  return transactions.send({ to, data: '0x' }, new AbortController().signal)
}

test('a transaction offers twice the base fee and the suggested tip', async () => {
  const { rpc, fees } = scriptedNode({ baseFee: parseGwei('20'), tip: parseGwei('2'), mined: true })
  await send(rpc)
  expect(fees()).toEqual([{ maxFeePerGas: parseGwei('42'), maxPriorityFeePerGas: parseGwei('2') }])
})

test('a node that suggests no tip on a chain without base fee gets the usual tip', async () => {
  const { rpc, fees } = scriptedNode({ mined: true })
  await send(rpc)
  expect(fees()).toEqual([{ maxFeePerGas: parseGwei('1'), maxPriorityFeePerGas: parseGwei('1') }])
})

test('whatever the node says is due, the first offer stays below the ceiling and its tip has room', async () => {
  const { rpc, fees } = scriptedNode({ baseFee: parseGwei('9000'), tip: parseGwei('9000'), mined: true })
  await send(rpc)
  expect(fees()).toEqual([{ maxFeePerGas: parseGwei('500'), maxPriorityFeePerGas: parseGwei('50') }])
})

test('raises end below the ceiling, where the same transaction is offered until it is given up', async () => {
  const { rpc, fees } = scriptedNode({ baseFee: parseGwei('10'), tip: parseGwei('10') })
  const ceiling = feeCeiling({ maxFeeGwei: 60, maxTipGwei: 20 })
  await expect(send(rpc, ceiling)).rejects.toMatchObject({ code: 'transaction_stuck' })
  const offered = fees()
  expect(new Set(offered.map(({ maxFeePerGas }) => maxFeePerGas)).size).toBe(4)
  expect(offered).toHaveLength(11)
  for (const { maxFeePerGas, maxPriorityFeePerGas } of offered) {
    expect(maxFeePerGas).toBeLessThanOrEqual(ceiling.feePerGasMax)
    expect(maxPriorityFeePerGas).toBeLessThanOrEqual(ceiling.tipPerGasMax)
  }
})

test('what the pool holds at more than the ceiling is not outbid', async () => {
  const { rpc, fees } = scriptedNode({ baseFee: parseGwei('30'), tip: 0n, underpriced: true })
  const ceiling = feeCeiling({ maxFeeGwei: 60, maxTipGwei: 20 })
  await expect(send(rpc, ceiling)).rejects.toMatchObject({ code: 'transaction_stuck' })
  expect(fees()).toHaveLength(1)
})
