import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type RootCircuit, rootBatches } from './circuit-name.js'
import { nextHashChain, type Transfer } from './hash-chain.js'
import { createMemoryNodes, createMerkleTree, transferLeaf } from './merkle-tree.js'
import { fieldPrime } from './poseidon.js'
import { evaluateTransfers, rootChallenge } from './root-challenge.js'
import { type RootStep, rootInput, type Withdrawal, withdrawInput } from './witness.js'

const transferOf = (at: number): Transfer => ({
  from: `0x${(at + 1).toString(16).padStart(40, '0')}`,
  to: `0x${(at + 100).toString(16).padStart(40, '0')}`,
  value: BigInt(at) ** 9n,
})

/** A step of a real tree whose earlier leaves are the numbers from 1 on. */
function stepOf(circuit: RootCircuit, oldIndex: number, count: number) {
  const width = rootBatches[circuit]
  const tree = createMerkleTree({ store: createMemoryNodes(), size: 0 })
  const leaves = Array.from({ length: oldIndex }, (_, at) => BigInt(at + 1))
  const transfers = Array.from({ length: count }, (_, at) => transferOf(at))
  tree.append(leaves)
  tree.append(transfers.map((transfer) => transferLeaf(2, transfer)))
  const step: RootStep = {
    circuit,
    oldIndex,
    oldChain: 77n,
    oldLeaves: leaves.slice(oldIndex - (oldIndex % width)),
    siblings: tree.pathAt(oldIndex, oldIndex + count).siblings.slice(Math.log2(width)),
    transfers,
  }
  return { step, tree, width }
}

describe('inputs of a root circuit', () => {
  it('lead from the root of the old tree to that of the new one', () => {
    const circuits = fc.constantFrom<RootCircuit>('root-16', 'root-64')
    fc.assert(
      fc.property(circuits, fc.nat(140), fc.nat(63), (circuit, oldIndex, more) => {
        const width = rootBatches[circuit]
        const count = 1 + (more % (width - (oldIndex % width)))
        const { step, tree } = stepOf(circuit, oldIndex, count)
        const { oldRoot, newRoot, newIndex, newChain, input } = rootInput(step)
        expect(newIndex).toBe(oldIndex + count)
        expect(oldRoot).toBe(tree.rootAt(oldIndex))
        expect(newRoot).toBe(tree.rootAt(newIndex))
        expect(newChain).toBe(step.transfers.reduce((chain, of) => nextHashChain(2, chain, of), 77n))
        const z = rootChallenge({ oldIndex, oldChain: 77n, oldRoot, newIndex, newChain, newRoot })
        expect(input).toMatchObject({ z, y: evaluateTransfers(z, step.transfers) })
      }),
      { numRuns: 8 },
    )
  })

  it('have the masks and rows of the circuit', () => {
    const { step } = stepOf('root-16', 18, 3)
    const { input } = rootInput(step)
    const ones = (count: number, length: number) => Array.from({ length }, (_, at) => (at < count ? 1n : 0n))
    expect(input).toMatchObject({ segment: 1n, kept: ones(2, 15), filled: ones(5, 16) })
    expect(input.leaf).toEqual([17n, 18n, ...ones(0, 13)])
    expect(input.value).toEqual([0n, 0n, 0n, 1n, 512n, ...ones(0, 11)])
  })

  it.each<[string, Partial<RootStep>]>([
    ['no transfer', { transfers: [] }],
    ['more transfers than fit', { transfers: Array.from({ length: 15 }, (_, at) => transferOf(at)) }],
    ['an old leaf too few', { oldLeaves: [1n] }],
    ['a sibling too few', { siblings: [] }],
    ['a value over 248 bits', { transfers: [{ ...transferOf(0), value: 1n << 248n }] }],
  ])('are not made of %s', (_, wrong) => {
    const { step } = stepOf('root-16', 18, 3)
    expect(() => rootInput({ ...step, ...wrong })).toThrow()
  })
})

describe('the point and the value that bind transfers to a root', () => {
  const transition = { oldIndex: 1, oldChain: 2n, oldRoot: 3n, newIndex: 4, newChain: 5n, newRoot: 6n }

  it('the point depends on every part of the transition', () => {
    const points = Object.entries(transition).map(([name, value]) =>
      rootChallenge({ ...transition, [name]: typeof value === 'number' ? value + 9 : value + 9n }),
    )
    expect(new Set([rootChallenge(transition), ...points]).size).toBe(7)
    for (const point of points) expect(point < fieldPrime).toBe(true)
  })

  it('the value is a polynomial with the highest power first', () => {
    const transfers: Transfer[] = [
      { from: '0x02', to: '0x03', value: 5n },
      { from: '0x07', to: '0x0b', value: 13n },
    ]
    expect(evaluateTransfers(10n, transfers)).toBe(235_823n)
    expect(evaluateTransfers(10n, [])).toBe(0n)
  })
})

describe('inputs of a withdraw circuit', () => {
  const withdrawal: Withdrawal = {
    root: 1n,
    recipientHash: 2n,
    secret: 3n,
    from: '0x04',
    value: 50n,
    leafIndex: 5,
    siblings: new Array<bigint>(40).fill(6n),
  }

  it('mint the whole value unless a part is left', () => {
    expect(withdrawInput(withdrawal).input).toMatchObject({ value: 50n, delta: 0n, withdrawValue: 50n })
    expect(withdrawInput({ ...withdrawal, delta: 8n }).input).toMatchObject({ delta: 8n, withdrawValue: 42n })
  })

  it('choose the circuit by the length of the path', () => {
    expect(withdrawInput(withdrawal).circuit).toBe('withdraw-local')
    const siblings = new Array<bigint>(46).fill(6n)
    expect(withdrawInput({ ...withdrawal, siblings, leafIndex: 2 ** 45 })).toMatchObject({
      circuit: 'withdraw-global',
      input: { leafIndex: 1n << 45n, from: 4n, recipient: 2n },
    })
  })

  it.each<[string, Partial<Withdrawal>]>([
    ['another length of path', { siblings: [1n] }],
    ['a delta above the value', { delta: 51n }],
    ['a negative delta', { delta: -1n }],
    ['a value over 248 bits', { value: 1n << 248n }],
    ['a leaf outside the tree', { leafIndex: 2 ** 40 }],
    ['half a leaf', { leafIndex: 0.5 }],
  ])('are not made of %s', (_, wrong) => {
    expect(() => withdrawInput({ ...withdrawal, ...wrong })).toThrow()
  })
})
