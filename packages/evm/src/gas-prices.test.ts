import { describe, expect, it } from 'vitest'
import { createGasPrices } from './gas-prices.js'
import type { JsonRpc, RpcAnswer } from './json-rpc.js'

const gwei = 1_000_000_000n

function clockAtRest() {
  let now = 0
  return {
    now: () => now,
    advance(ms: number) {
      now += ms
    },
  }
}

type Setting = { baseFee?: unknown; tip?: RpcAnswer; feePerGasMax?: bigint; tipPerGasMax?: bigint }

function startGasPrices(setting: Setting = {}) {
  const { baseFee = '0x2540be400', tip = { result: '0x77359400' } } = setting
  const { feePerGasMax = 500n * gwei, tipPerGasMax = 100n * gwei } = setting
  const asked: string[][] = []
  const said = { baseFee, tip }
  const rpc = {
    async batch(calls) {
      asked.push(calls.map(({ method }) => method))
      const block = { result: { number: '0x1', baseFeePerGas: said.baseFee } }
      return calls.map(({ method }) => (method === 'eth_maxPriorityFeePerGas' ? said.tip : block))
    },
  } satisfies Pick<JsonRpc, 'batch'>
  const clock = clockAtRest()
  const gasPrices = createGasPrices({
    rpc,
    clock,
    freshMs: 3_000,
    bumpPercent: 25n,
    feePerGasMax,
    tipPerGasMax,
  })
  return { gasPrices, clock, said, asked }
}

describe('the price that is due', () => {
  it('is twice the base fee and the tip, which outlasts six full blocks', async () => {
    expect(await startGasPrices().gasPrices.current()).toEqual({
      maxFeePerGas: 22n * gwei,
      maxPriorityFeePerGas: 2n * gwei,
    })
  })

  it('has the usual tip on a node that cannot suggest one, and no base fee on a chain without', async () => {
    const { gasPrices, said } = startGasPrices({
      tip: { error: { code: -32601, message: 'no such method' } },
    })
    said.baseFee = undefined
    expect(await gasPrices.current()).toEqual({ maxFeePerGas: gwei, maxPriorityFeePerGas: gwei })
  })

  it.each([[null], ['lots'], [{}]])('is not made up from a malformed answer: %j', async (result) => {
    await expect(startGasPrices({ tip: { result } }).gasPrices.current()).rejects.toMatchObject({
      code: 'rpc_error',
    })
    await expect(startGasPrices({ baseFee: result }).gasPrices.current()).rejects.toMatchObject({
      code: 'rpc_error',
    })
  })

  it('is remembered while it is fresh', async () => {
    const { gasPrices, clock, asked } = startGasPrices()
    await gasPrices.current()
    clock.advance(2_999)
    await gasPrices.current()
    expect(asked).toHaveLength(1)
    clock.advance(1)
    await gasPrices.current()
    expect(asked).toHaveLength(2)
  })

  it('follows base gasPrices seen elsewhere, which do not keep the tip fresh', async () => {
    const { gasPrices, clock, said, asked } = startGasPrices()
    await gasPrices.current()
    clock.advance(2_999)
    gasPrices.sawBaseFee(20n * gwei)
    expect((await gasPrices.current()).maxFeePerGas).toBe(42n * gwei)
    said.tip = { result: '0xb2d05e00' }
    clock.advance(1)
    expect(await gasPrices.current()).toMatchObject({
      maxFeePerGas: 43n * gwei,
      maxPriorityFeePerGas: 3n * gwei,
    })
    expect(asked.slice(1)).toEqual([['eth_maxPriorityFeePerGas']])
  })

  it('uses no base fee that was seen longer ago than that, however new the tip is', async () => {
    const { gasPrices, clock, said } = startGasPrices()
    await gasPrices.current()
    clock.advance(1_000)
    gasPrices.sawBaseFee(20n * gwei)
    clock.advance(2_500)
    await gasPrices.current()
    said.baseFee = '0x9502f9000'
    clock.advance(500)
    expect((await gasPrices.current()).maxFeePerGas).toBe(82n * gwei)
  })
})

describe('the price of a replacement', () => {
  it('is a quarter higher in both parts, as nodes demand at least a tenth', async () => {
    const { gasPrices } = startGasPrices()
    expect(gasPrices.raised({ maxFeePerGas: 100n, maxPriorityFeePerGas: 8n })).toEqual({
      maxFeePerGas: 126n,
      maxPriorityFeePerGas: 11n,
    })
  })

  it('is what is due now where that is more', async () => {
    const { gasPrices } = startGasPrices()
    const due = await gasPrices.current()
    expect(gasPrices.raised({ maxFeePerGas: 1n, maxPriorityFeePerGas: 1n })).toEqual(due)
  })

  it('never has a tip above the whole', async () => {
    const { gasPrices } = startGasPrices({ tip: { result: '0xe8d4a51000' }, feePerGasMax: 20n * gwei })
    expect(await gasPrices.current()).toEqual({ maxFeePerGas: 20n * gwei, maxPriorityFeePerGas: 20n * gwei })
  })
})

describe('the ceiling', () => {
  it('holds whatever the node says is due', async () => {
    const { gasPrices } = startGasPrices({ baseFee: `0x${'f'.repeat(32)}` })
    expect((await gasPrices.current()).maxFeePerGas).toBe(500n * gwei)
  })

  it('holds for the tip, which leaves room to raise it', async () => {
    const { gasPrices } = startGasPrices({ tip: { result: `0x${'f'.repeat(12)}` } })
    let price = await gasPrices.current()
    expect(price).toEqual({ maxFeePerGas: 70n * gwei, maxPriorityFeePerGas: 50n * gwei })
    const tips: bigint[] = []
    for (let raised = gasPrices.raised(price); raised; raised = gasPrices.raised(price)) {
      price = raised
      tips.push(price.maxPriorityFeePerGas)
    }
    expect(tips.map((tip) => tip / gwei)).toEqual([62n, 78n, 97n])
  })

  it('leaves no replacement that a node would refuse as too low', () => {
    const { gasPrices } = startGasPrices({ feePerGasMax: 1_000n })
    expect(gasPrices.raised({ maxFeePerGas: 799n, maxPriorityFeePerGas: 1n })?.maxFeePerGas).toBe(999n)
    expect(gasPrices.raised({ maxFeePerGas: 800n, maxPriorityFeePerGas: 1n })).toBeUndefined()
  })
})
