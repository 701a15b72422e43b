import { describe, expect, it } from 'vitest'
import { askAll, judgeAddresses, judgeChain, judgeClock, judgeJournal, judgeRelayer } from './readiness.js'

const chain = {
  reachable: true,
  chainId: 31337,
  headNumber: 1n,
  headTimestamp: 0,
  relayerBalance: 1_000n,
  feePerGas: 2n,
  roundTripMs: 1,
} as const
const away = { reachable: false } as const
const journal = { isLost: false, hasFailed: false, freeBytes: 100, freeBytesMin: 100 }

describe('readiness', () => {
  it.each([
    ['nothing', judgeChain(chain, 31337), []],
    ['a chain out of reach', judgeChain(away, 31337), ['chain']],
    ['another chain', judgeChain(chain, 1), ['chain']],
    ['a relayer that relays nothing', judgeRelayer({ ...chain, relayerBalance: 0n }, []), []],
    ['one that can just pay', judgeRelayer(chain, [{ what: 'burn', gas: 500n }]), []],
    ['one that lacks one unit', judgeRelayer(chain, [{ what: 'burn', gas: 501n }]), ['relayer']],
    [
      'one that can burn and not mint',
      judgeRelayer(chain, [
        { what: 'burn', gas: 1n },
        { what: 'mint', gas: 501n },
      ]),
      ['relayer'],
    ],
    ['one nobody could ask for', judgeRelayer(away, [{ what: 'burn', gas: 501n }]), []],
    ['an unknown skew', judgeClock(undefined, 30), []],
    ['a small skew', judgeClock(-30, 30), []],
    ['a clock behind', judgeClock(-31, 30), ['clock']],
    ['a clock ahead', judgeClock(31, 30), ['clock']],
    ['an empty pool', judgeAddresses(0), ['addresses']],
    ['a pool with one', judgeAddresses(1), []],
    ['a good journal', judgeJournal(journal), []],
    ['a failed journal', judgeJournal({ ...journal, hasFailed: true }), ['ledger']],
    ['a journal that is gone', judgeJournal({ ...journal, isLost: true, hasFailed: true }), ['ledger']],
    ['a disk that is nearly full', judgeJournal({ ...journal, freeBytes: 99 }), ['ledger']],
    ['a disk that does not tell', judgeJournal({ ...journal, freeBytes: undefined }), []],
  ] as const)('names the part for %s', (_, problems, parts) => {
    expect(problems.map(({ part }) => part)).toEqual(parts)
  })

  it('asks every part, and has its list in their order', async () => {
    const problems = await askAll([
      async () => judgeChain(away, 1),
      () => judgeAddresses(1),
      () => judgeJournal({ ...journal, hasFailed: true }),
    ])
    expect(problems.map(({ part }) => part)).toEqual(['chain', 'ledger'])
  })
})
