import { stoppedClock } from '../../../../../test/support/clocks.js'
import { describeMintSchedule } from '../../../test/mint-schedule-contract.js'
import { createMintSchedule } from './schedule.js'

describeMintSchedule('in memory', (settings) => {
  const clock = stoppedClock()
  return { schedule: createMintSchedule({ clock, ...settings }), advance: clock.advance }
})
