import { describe, expect, it } from 'vitest'
import { burnOf, challengeOf, hashOf, seconds, units } from '../../test/challenges.js'
import { scriptedRpc } from '../../test/scripted-rpc.js'
import type { SelfTransferChainFacts } from '../payment/ports.js'
import type { Burn } from '../payment/records.js'
import { createRereadBurn } from './reread-burn.js'

const challenge = challengeOf(1)
const burn = { ...burnOf(1), blockNumber: 10n, blockHash: hashOf(0xab) }

function setup(world: {
  receiptOf?: Burn
  beside?: readonly Burn[]
  executed?: Burn
  block?: { hash?: string } | null
  head?: bigint
}) {
  const headNumber = world.head ?? 12n
  const { receiptOf } = world
  const facts: SelfTransferChainFacts = {
    timestamp: seconds(0),
    headNumber,
    burnAddressBalance: 0n,
    ...(receiptOf && {
      receipt: {
        succeeded: true,
        blockNumber: receiptOf.blockNumber,
        blockHash: receiptOf.blockHash,
        transfers: [...(world.beside ?? []), receiptOf].map((each) => ({ ...each, to: challenge.payTo })),
      },
    }),
  }
  const reread = createRereadBurn({
    chain: {
      selfTransferFacts: async () => facts,
      findExecutedBurn: async () => world.executed,
      headNumber: () => headNumber,
    },
    rpc: scriptedRpc({
      eth_getBlockByNumber: () => (world.block ? { number: '0xa', ...world.block } : null),
    }),
  })
  return () => reread(challenge, burn)
}

describe('a burn that is looked for again', () => {
  it('is told with its depth, and where it is now', async () => {
    expect(await setup({ receiptOf: burn })()).toEqual({ burn, depth: 3 })
    const moved = { ...burn, blockNumber: 12n, blockHash: hashOf(9), leafIndex: 5n }
    expect(await setup({ receiptOf: moved })()).toEqual({ burn: moved, depth: 1 })
  })

  it('stays the recorded leaf beside others to the same address, and is the largest of them when it moved', async () => {
    const beside = [{ ...burn, leafIndex: 90n, value: units(1500n) }]
    expect((await setup({ receiptOf: burn, beside })())?.burn).toEqual(burn)
    const moved = { ...burn, blockHash: hashOf(9), leafIndex: 5n }
    expect((await setup({ receiptOf: moved, beside })())?.burn).toMatchObject({
      leafIndex: 90n,
      value: 1500n,
    })
  })

  it('may be in another transaction of the relayer by now', async () => {
    const executed = { ...burn, txHash: hashOf(8), blockNumber: 11n }
    expect(await setup({ executed, block: { hash: hashOf(9) } })()).toEqual({ burn: executed, depth: 2 })
  })

  it('is gone when another block is in the place of its own', async () => {
    expect(await setup({ block: { hash: hashOf(9) } })()).toBeUndefined()
    const smaller = { ...burn, value: units(999n), blockHash: hashOf(9) }
    expect(await setup({ receiptOf: smaller, block: { hash: hashOf(9) } })()).toBeUndefined()
  })

  it('fault 18: is not gone because the node is behind or has lost its receipts', async () => {
    await expect(setup({ block: null })()).rejects.toThrow('has no block 10')
    await expect(setup({ block: { hash: burn.blockHash } })()).rejects.toThrow('but not the burn in it')
    const loud = `0x${burn.blockHash.slice(2).toUpperCase()}`
    await expect(setup({ block: { hash: loud } })()).rejects.toThrow('but not the burn in it')
    for (const block of [{}, { hash: '0x' }])
      await expect(setup({ block })()).rejects.toThrow('without its hash')
  })
})
