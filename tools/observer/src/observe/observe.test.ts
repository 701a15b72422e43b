import { describe, expect, it } from 'vitest'
import type { ChainView, Mint, Transfer } from '../chain-view.js'
import { companyOf, namesOf } from './guess.js'
import { observe } from './observe.js'

const [shop, other] = ['0x5402', '0x0735']

/** A small chain: burns and mints in order, each a leaf. */
function chainOf(
  ...steps: (
    | { burn: bigint; at: number; by?: string }
    | { mint: bigint; at: number; by?: string; to?: string; root: number; range?: Mint['range'] }
  )[]
): ChainView {
  const transfers: Transfer[] = []
  const mints: Mint[] = []
  for (const [leaf, step] of steps.entries()) {
    const sender = step.by ?? 'relayer'
    if ('burn' in step) {
      const from = `payer${leaf}`
      const signer = step.by === 'self' ? from : sender
      transfers.push({ leaf, from, to: `burn${leaf}`, value: step.burn, time: step.at, sender: signer })
    } else {
      const { mint: value, at: time, to = shop, root: rootSize, range } = step
      transfers.push({ leaf, from: `0x${'0'.repeat(40)}`, to, value, time, sender })
      mints.push({ leaf, to, value, time, sender, rootSize, ...(range && { range }) })
    }
  }
  return { transfers, mints, roots: mints.map(({ rootSize: size, time }) => ({ size, time: time - 1 })) }
}

const namedLeaves = (view: ChainView) => observe(view).map((guess) => namesOf(guess).map(({ leaf }) => leaf))

describe('the observer', () => {
  it('links an amount that only one burn has', () => {
    const view = chainOf({ burn: 10n, at: 0 }, { burn: 11n, at: 1 }, { mint: 11n, at: 60, root: 2 })
    expect(namedLeaves(view)).toEqual([[1]])
  })

  it('cannot tell equal burns under one root apart, and says so', () => {
    const view = chainOf({ burn: 10n, at: 0 }, { burn: 10n, at: 0 }, { mint: 10n, at: 60, root: 2 })
    const [guess] = observe(view)
    expect(guess && companyOf(guess)).toBe(2)
    expect(namedLeaves(view)).toEqual([[0, 1]])
  })

  it('rules out burns above the root, and those of another relayer that mints', () => {
    const view = chainOf(
      { burn: 10n, at: 0, by: 'other' },
      { burn: 10n, at: 0, by: 'relayer' },
      { burn: 10n, at: 1, by: 'relayer' },
      { mint: 10n, at: 60, by: 'relayer', root: 2 },
      { mint: 10n, at: 60, by: 'other', to: other, root: 2 },
    )
    expect(namedLeaves(view)).toEqual([[1], [0]])
  })

  it('finds the relayer of a facilitator whose mints come from a key of their own, by their totals', () => {
    const view = chainOf(
      { burn: 10n, at: 0, by: 'relayer1' },
      { burn: 10n, at: 0, by: 'relayer2' },
      { burn: 50n, at: 0, by: 'relayer2' },
      { mint: 10n, at: 60, by: 'minter1', to: other, root: 3 },
      { mint: 10n, at: 60, by: 'minter2', root: 3 },
      { mint: 50n, at: 60, by: 'minter2', root: 3 },
    )
    expect(namedLeaves(view)).toEqual([[0], [1], [2]])
  })

  it('explains a sum by the only burns that add up to it', () => {
    const range = { start: 0, end: 4 }
    const view = chainOf(
      { burn: 10n, at: 0, by: 'self' },
      { burn: 50n, at: 1, by: 'self' },
      { burn: 250n, at: 2, by: 'self' },
      { burn: 250n, at: 3, by: 'self' },
      { mint: 60n, at: 600, root: 4, range },
    )
    expect(namedLeaves(view)).toEqual([[0, 1]])
  })

  it('looks for the burns of a batch only where its proof counted', () => {
    const view = chainOf(
      { burn: 10n, at: 0 },
      { burn: 10n, at: 1 },
      { burn: 10n, at: 2 },
      { mint: 10n, at: 600, root: 3, range: { start: 1, end: 2 } },
    )
    expect(namedLeaves(view)).toEqual([[1]])
  })

  it('takes amounts too odd to weigh all sets as a run of burns', () => {
    const odd = [10n ** 18n + 1n, 10n ** 18n + 2n, 10n ** 18n + 4n]
    const view = chainOf(...odd.map((burn, at) => ({ burn, at })), {
      mint: 2n * 10n ** 18n + 6n,
      at: 600,
      root: 3,
      range: { start: 0, end: 3 },
    })
    expect(namedLeaves(view)).toEqual([[1, 2]])
  })

  it('counts no transfer as a burn whose receiver has ever sent something', () => {
    const { transfers, ...rest } = chainOf({ burn: 10n, at: 0 }, { mint: 10n, at: 60, root: 1 })
    const spent = { leaf: 2, from: 'burn0', to: 'x', value: 1n, time: 90, sender: 'burn0' }
    expect(namedLeaves({ transfers: [...transfers, spent], ...rest })).toEqual([[]])
  })
})
