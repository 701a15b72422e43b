import { expect, test } from 'vitest'
import { createFaults, type Fault, parseFaults } from './faults.js'

function armed(...list: Fault[]) {
  const faults = createFaults()
  faults.set(list)
  return faults
}

const strikes = (faults: ReturnType<typeof createFaults>, count: number, method = 'eth_call') =>
  Array.from({ length: count }, () => faults.strike(method).effect !== undefined)

test('without faults nothing strikes', () => {
  expect(createFaults().strike('eth_call')).toEqual({ delayMs: 0, effect: undefined })
})

test('a fault strikes its own method only, and a star strikes all', () => {
  const faults = armed({ method: 'eth_call', kind: 'hang' })
  expect(faults.strike('eth_blockNumber').effect).toBeUndefined()
  expect(faults.strike('eth_call').effect?.kind).toBe('hang')
  expect(armed({ method: '*', kind: 'hang' }).strike('eth_getLogs').effect?.kind).toBe('hang')
})

test('a fault passes over the calls it skips and ends after its times', () => {
  const faults = armed({ method: 'eth_call', kind: 'hang', skip: 1, times: 2 })
  expect(strikes(faults, 5)).toEqual([false, true, true, false, false])
})

test('delays add up and come before the first other effect', () => {
  const faults = armed(
    { method: '*', kind: 'delay', delayMs: 20 },
    { method: '*', kind: 'delay', delayMs: 5 },
    { method: '*', kind: 'httpStatus', status: 503 },
    { method: '*', kind: 'hang' },
  )
  expect(faults.strike('eth_call')).toMatchObject({ delayMs: 25, effect: { kind: 'httpStatus' } })
})

test('a fault that was not reached keeps its times', () => {
  const faults = armed(
    { method: '*', kind: 'httpStatus', status: 503, times: 1 },
    { method: '*', kind: 'hang', times: 1 },
  )
  expect([faults.strike('a').effect?.kind, faults.strike('a').effect?.kind]).toEqual(['httpStatus', 'hang'])
})

test('the same seed strikes the same calls, at about the probability', () => {
  const pattern = (seed: number) => {
    const faults = createFaults()
    faults.set([{ method: '*', kind: 'hang', probability: 0.3 }], { seed })
    return strikes(faults, 2_000)
  }
  expect(pattern(7)).toEqual(pattern(7))
  expect(pattern(7)).not.toEqual(pattern(8))
  const share = pattern(7).filter(Boolean).length / 2_000
  expect(share).toBeGreaterThan(0.25)
  expect(share).toBeLessThan(0.35)
})

test('every kind of fault is read from JSON', () => {
  const list: Fault[] = [
    { method: 'eth_call', kind: 'delay', delayMs: 1 },
    { method: 'eth_call', kind: 'hang', executed: true },
    { method: 'eth_call', kind: 'httpStatus', status: 502 },
    { method: 'eth_call', kind: 'error', code: -32_005, message: 'slow down' },
    { method: 'eth_call', kind: 'dropResponse', times: 1 },
    { method: 'eth_call', kind: 'result', value: null, probability: 0.5 },
    { method: 'eth_call', kind: 'lag', blocks: 3, skip: 2 },
  ]
  expect(parseFaults(JSON.parse(JSON.stringify(list)))).toEqual(list)
})

test.each([
  [{}],
  [[{}]],
  [[{ method: 'eth_call', kind: 'explode' }]],
  [[{ method: 'eth_call', kind: 'toString' }]],
  [[{ method: 'eth_call', kind: 'delay' }]],
  [[{ method: 'eth_call', kind: 'result' }]],
  [[{ method: 'eth_call', kind: 'hang', times: -1 }]],
  [[{ method: 'eth_call', kind: 'hang', probability: 2 }]],
  [[{ method: 'eth_call', kind: 'httpStatus', status: 99 }]],
])('what is not a list of faults is refused: %j', (input) => {
  expect(() => parseFaults(input)).toThrow(/faults/)
})
