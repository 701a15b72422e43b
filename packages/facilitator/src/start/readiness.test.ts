import { describe, expect, it } from 'vitest'
import { judgeReadiness, type ReadinessFacts } from './readiness.js'

const good: ReadinessFacts = {
  chain: { reachable: true, chainId: 31337, headNumber: 1n, relayerBalance: 1_000n, feePerGas: 2n },
  chainId: 31337,
  burnGas: 500n,
  addressesReady: 1,
  journalFailed: false,
  journalLost: false,
}
const partsOf = (facts: Partial<ReadinessFacts>) =>
  judgeReadiness({ ...good, ...facts }).map(({ part }) => part)

describe('readiness', () => {
  it.each([
    ['nothing', {}, []],
    ['a chain out of reach', { chain: { reachable: false } }, ['chain']],
    ['another chain', { chainId: 1 }, ['chain']],
    ['a relayer that lacks one unit', { burnGas: 501n }, ['relayer']],
    ['an empty pool', { addressesReady: 0 }, ['addresses']],
    ['a failed journal', { journalFailed: true }, ['journal']],
    ['a journal that is gone', { journalLost: true, journalFailed: true }, ['journal']],
    [
      'all at once',
      { chain: { reachable: false }, addressesReady: 0, journalFailed: true },
      ['chain', 'addresses', 'journal'],
    ],
  ] as const)('names the part for %s', (_, facts, parts) => {
    expect(partsOf(facts)).toEqual(parts)
  })

  it('asks no money of a relayer that relays nothing', () => {
    expect(partsOf({ burnGas: undefined })).toEqual([])
  })
})
