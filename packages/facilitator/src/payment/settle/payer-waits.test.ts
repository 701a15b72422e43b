import { expect, it } from 'vitest'
import { stoppedClock } from '../../../../../test/support/clocks.js'
import { addressOf } from '../../../test/challenges.js'
import { describePayerWaits, waitSettings } from '../../../test/payer-waits-contract.js'
import { createPayerWaits } from './payer-waits.js'

function open(payersMax = 9) {
  const clock = stoppedClock()
  return { waits: createPayerWaits({ clock, ...waitSettings, payersMax }), advance: clock.advance }
}

describePayerWaits('in memory', () => open())

it('payers whose relayed burns failed are remembered up to a number, the last ones to fail', async () => {
  const { waits } = open(2)
  for (const seed of [1, 2, 1, 3]) await waits.failed(addressOf(seed))
  expect(await Promise.all([1, 2, 3].map((seed) => waits.waitMs(addressOf(seed))))).toEqual([200, 0, 100])
})
