import { describe, expect, it } from 'vitest'
import { createFees } from './fees.js'
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

function startFees(setting: Setting = {}) {
  const { baseFee = '0x2540be400', tip = { result: '0x77359400' } } = setting
  const { feePerGasMax = 500n * gwei, tipPerGasMax = 100n * gwei } = setting
  let asked = 0
  const said = { baseFee, tip }
  const rpc = {
    async batch() {
      asked += 1
      return [{ result: { number: '0x1', baseFeePerGas: said.baseFee } }, said.tip]
    },
  } as unknown as JsonRpc
  const clock = clockAtRest()
  const fees = createFees({ rpc, clock, freshMs: 3_000, bumpPercent: 25n, feePerGasMax, tipPerGasMax })
  return { fees, clock, said, asked: () => asked }
}

describe('the fee that is due', () => {
  it('is twice the base fee and the tip, which outlasts six full blocks', async () => {
    expect(await startFees().fees.current()).toEqual({
      maxFeePerGas: 22n * gwei,
      maxPriorityFeePerGas: 2n * gwei,
    })
  })

  it('has the usual tip on a node that cannot suggest one, and no base fee on a chain without', async () => {
    const { fees, said } = startFees({ tip: { error: { code: -32601, message: 'no such method' } } })
    said.baseFee = undefined
    expect(await fees.current()).toEqual({ maxFeePerGas: gwei, maxPriorityFeePerGas: gwei })
  })

  it.each([[null], ['lots'], [{}]])('is not made up from a malformed answer: %j', async (result) => {
    await expect(startFees({ tip: { result } }).fees.current()).rejects.toMatchObject({ code: 'rpc_error' })
    await expect(startFees({ baseFee: result }).fees.current()).rejects.toMatchObject({ code: 'rpc_error' })
  })

  it('is remembered while it is fresh', async () => {
    const { fees, clock, asked } = startFees()
    await fees.current()
    clock.advance(2_999)
    await fees.current()
    expect(asked()).toBe(1)
    clock.advance(1)
    await fees.current()
    expect(asked()).toBe(2)
  })

  it('follows base fees seen elsewhere, which do not keep the tip fresh', async () => {
    const { fees, clock, said, asked } = startFees()
    await fees.current()
    clock.advance(2_999)
    fees.sawBaseFee(20n * gwei)
    expect((await fees.current()).maxFeePerGas).toBe(42n * gwei)
    said.tip = { result: '0xb2d05e00' }
    clock.advance(1)
    expect([(await fees.current()).maxPriorityFeePerGas, asked()]).toEqual([3n * gwei, 2])
  })
})

describe('the fee of a replacement', () => {
  it('is a quarter higher in both parts, as nodes demand at least a tenth', async () => {
    const { fees } = startFees()
    expect(fees.raised({ maxFeePerGas: 100n, maxPriorityFeePerGas: 8n })).toEqual({
      maxFeePerGas: 126n,
      maxPriorityFeePerGas: 11n,
    })
  })

  it('is what is due now where that is more', async () => {
    const { fees } = startFees()
    const due = await fees.current()
    expect(fees.raised({ maxFeePerGas: 1n, maxPriorityFeePerGas: 1n })).toEqual(due)
  })

  it('never has a tip above the whole', async () => {
    const { fees } = startFees({ tip: { result: '0xe8d4a51000' }, feePerGasMax: 20n * gwei })
    expect(await fees.current()).toEqual({ maxFeePerGas: 20n * gwei, maxPriorityFeePerGas: 20n * gwei })
  })
})

describe('the ceiling', () => {
  it('holds whatever the node says is due', async () => {
    const { fees } = startFees({ baseFee: `0x${'f'.repeat(32)}` })
    expect((await fees.current()).maxFeePerGas).toBe(500n * gwei)
  })

  it('holds for the tip, which leaves room to raise it', async () => {
    const { fees } = startFees({ tip: { result: `0x${'f'.repeat(12)}` } })
    let fee = await fees.current()
    expect(fee).toEqual({ maxFeePerGas: 70n * gwei, maxPriorityFeePerGas: 50n * gwei })
    const tips: bigint[] = []
    for (let raised = fees.raised(fee); raised; raised = fees.raised(fee)) {
      fee = raised
      tips.push(fee.maxPriorityFeePerGas)
    }
    expect(tips.map((tip) => tip / gwei)).toEqual([62n, 78n, 97n])
  })

  it('leaves no replacement that a node would refuse as too low', () => {
    const { fees } = startFees({ feePerGasMax: 1_000n })
    expect(fees.raised({ maxFeePerGas: 799n, maxPriorityFeePerGas: 1n })?.maxFeePerGas).toBe(999n)
    expect(fees.raised({ maxFeePerGas: 800n, maxPriorityFeePerGas: 1n })).toBeUndefined()
  })
})
