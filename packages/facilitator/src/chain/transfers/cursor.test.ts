import { expect, it } from 'vitest'
import { checkpointsOf, withCheckpoints } from './cursor.js'
import type { FollowedBlock } from './issued-store.js'

it('remembers few blocks, and for a reorg of any depth one that is not much farther back', () => {
  let followed: FollowedBlock | undefined
  const last = 20_000
  for (let number = 1; number <= last; number += 1) {
    followed = withCheckpoints(followed, { number, hash: `0x${number}` })
  }
  const known = checkpointsOf(followed).map(({ number }) => number)
  expect(known.length).toBeLessThan(40)
  for (let depth = 1; depth < last; depth += 7) {
    const back = last - (known.find((number) => number <= last - depth) ?? 0)
    expect(back).toBeLessThanOrEqual(2 * depth + 1)
  }
})

it('forgets blocks that were rewound, and those it cannot tell from a fork’s', () => {
  const before = { number: 9, hash: '0x9', earlier: [{ number: 5, hash: '0x5' }, { number: 2 }] }
  expect(withCheckpoints(before, { number: 7, hash: '0x7' })).toEqual({
    number: 7,
    hash: '0x7',
    earlier: [{ number: 5, hash: '0x5' }],
  })
})
