import { describe, expect, it } from 'vitest'
import { stoppedClock } from '../../../../../test/support/clocks.js'
import { burnOf, challengeOf, nonceOf } from '../../../test/challenges.js'
import { createMemoryLedger } from '../../../test/ledger.js'
import type { RoundEnd, Step } from '../../payment/finalize/round.js'
import { finalizeAll } from './finalize-all.js'

const limits = { recoverPauseMs: 1_000, recoverFailedRoundsMax: 3, recoverStillRoundsMax: 5 }

/** Runs scripted rounds for one waiting burn. The last step of the script repeats. */
async function run(...script: (Step | 'none' | Error)[]) {
  const clock = stoppedClock()
  const ledger = createMemoryLedger({ clock, openMax: 10, expiredRetentionSeconds: 0 })
  await ledger.recordLate(challengeOf(1), burnOf(1), 'late')
  const stop = new AbortController()
  let rounds = 0
  const steps = await finalizeAll({
    finalize: {
      async round(): Promise<RoundEnd> {
        const step = script[Math.min(rounds, script.length - 1)] ?? 'none'
        rounds += 1
        if (rounds > 50) throw new Error('it does not end')
        if (step instanceof Error) throw step
        if (step === 'finalized')
          await ledger.finalize(nonceOf(1), { value: burnOf(1).value }, burnOf(1).value)
        if (step === 'interrupted') stop.abort()
        return new Map(step === 'none' ? [] : [[nonceOf(1), step]])
      },
    },
    ledger,
    clock,
    signal: stop.signal,
    report: () => undefined,
    limits,
  })
  return [rounds, steps.get(nonceOf(1))]
}

describe('rounds without a loop', () => {
  it('go on until nothing is left', async () => {
    expect(await run('mined', 'confirming', 'confirming', 'finalized')).toEqual([4, 'finalized'])
    expect(await run('failed', 'none', 'mined', 'finalized')).toEqual([4, 'finalized'])
  })

  it('end at once when only others can help', async () => {
    expect(await run('root_behind')).toEqual([1, 'root_behind'])
    expect(await run('verifier_paused')).toEqual([1, 'verifier_paused'])
    expect(await run('burn_lost')).toEqual([1, 'burn_lost'])
  })

  it('end after a few that failed, and after more that only waited for blocks', async () => {
    expect(await run('failed')).toEqual([3, 'failed'])
    expect(await run('failed', 'none')).toEqual([3, 'failed'])
    expect(await run(new Error('no node'))).toEqual([3, undefined])
    expect(await run('mined', 'confirming')).toEqual([6, 'confirming'])
  })

  it('end when they are cut off', async () => {
    expect(await run('interrupted')).toEqual([1, 'interrupted'])
  })
})
