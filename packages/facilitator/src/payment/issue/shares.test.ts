import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { commonOf, rankOf, type ShareTerms, unshared } from './shares.js'

const none = { reservedPercent: new Map<string, number>(), promisedTo: () => 0 }

/** A stock whose takers are counted. */
function sharing(terms: ShareTerms) {
  const heldBy = new Map<string, number>()
  const add = (key: string, count: number) => heldBy.set(key, (heldBy.get(key) ?? 0) + count)
  const held = {
    of: (key: string) => heldBy.get(key) ?? 0,
    get all() {
      return [...heldBy.values()].reduce((sum, count) => sum + count, 0)
    },
  }
  return {
    rank: (key: string, free: number) => rankOf(terms, held, key, free),
    common: (free: number) => commonOf(terms, held, free),
    take: (key: string) => add(key, 1),
    giveBack: (key: string) => add(key, -1),
  }
}

/** Takes for one caller until it may have no more; what is left then. */
function takeAll(shares: ReturnType<typeof sharing>, key: string, free: number): number {
  let left = free
  while (shares.rank(key, left) !== undefined) {
    shares.take(key)
    left -= 1
  }
  return left
}

describe('shares of strangers', () => {
  it('are larger the fewer there are, and never everything', () => {
    const shares = sharing({ capacity: 256, ...none })
    const afterOne = takeAll(shares, 'a', 256)
    expect(afterOne).toBe(64)
    expect(takeAll(shares, 'b', afterOne)).toBe(16)
  })

  it('leave something to the next one, however many come at an even pace', () => {
    for (const callers of [1, 2, 16, 60]) {
      const shares = sharing({ capacity: 256, ...none })
      let free = 256
      for (let stuck = 0; stuck < callers; ) {
        stuck = 0
        for (let caller = 0; caller < callers; caller++) {
          if (shares.rank(`${caller}`, free) === undefined) stuck += 1
          else {
            shares.take(`${caller}`)
            free -= 1
          }
        }
      }
      expect(free, `${callers} callers`).toBeGreaterThan(0)
      expect(shares.rank('somebody new', free)).toBe(0)
    }
  })

  it('are at least what was promised, up to the last one', () => {
    const shares = sharing({ capacity: 20, ...none, promisedTo: () => 20 })
    expect(takeAll(shares, 'a', 20)).toBe(0)
    expect(takeAll(sharing(unshared(7)), 'a', 7)).toBe(0)
  })

  it('go first to whoever has least', () => {
    const shares = sharing({ capacity: 10, ...none })
    shares.take('a')
    expect([shares.rank('a', 9), shares.rank('b', 9)]).toEqual([1, 0])
  })
})

describe('reserved parts', () => {
  const sellers = new Map([
    ['shop', 30],
    ['bakery', 10],
  ])

  it('are untouched by a thousand strangers, and by other sellers', () => {
    const shares = sharing({ capacity: 100, reservedPercent: sellers, promisedTo: () => 20 })
    let free = 100
    for (let stranger = 0; stranger < 1_000; stranger++) free = takeAll(shares, `${stranger}`, free)
    expect(free).toBe(40)
    expect(shares.common(free)).toBe(0)
    free = takeAll(shares, 'shop', free)
    expect(free).toBe(10)
    expect(takeAll(shares, 'bakery', free)).toBe(0)
  })

  it('are as large as the stock is while it is still being made: strangers do not wait for sellers', () => {
    const shares = sharing({ capacity: 100, reservedPercent: sellers, promisedTo: () => 0 })
    expect(shares.rank('stranger', 1)).toBe(0)
    expect(shares.rank('stranger', 0)).toBeUndefined()
  })

  it('hold whatever happens: a seller below its part finds one free', () => {
    const step = fc.record({
      key: fc.constantFrom('shop', 'bakery', 'a', 'b', 'c'),
      gives: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
        const capacity = 50
        const shares = sharing({ capacity, reservedPercent: sellers, promisedTo: () => 5 })
        const held = new Map<string, number>()
        const all = () => [...held.values()].reduce((sum, count) => sum + count, 0)
        for (const { key, gives } of steps) {
          const own = held.get(key) ?? 0
          if (gives && own > 0) {
            shares.giveBack(key)
            held.set(key, own - 1)
          } else if (!gives && shares.rank(key, capacity - all()) !== undefined) {
            shares.take(key)
            held.set(key, own + 1)
          }
          expect(all()).toBeLessThanOrEqual(capacity)
          for (const [seller, percent] of sellers) {
            const part = (capacity * percent) / 100
            if ((held.get(seller) ?? 0) < part) expect(shares.rank(seller, capacity - all())).toBeLessThan(0)
          }
        }
      }),
    )
  })
})
