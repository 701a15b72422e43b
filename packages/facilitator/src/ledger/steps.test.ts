import { describe, expect, it } from 'vitest'
import { createLedgerSteps } from './steps.js'

/** A step that ends when it is told to. */
function heldStep() {
  let end = () => {}
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  return { step: () => ended, end }
}

describe('steps of a ledger', () => {
  it('run side by side; a look alone waits for them and keeps new ones waiting, no longer', async () => {
    const steps = createLedgerSteps()
    const seen: string[] = []
    const [first, second] = [heldStep(), heldStep()]
    const running = [steps.run(first.step), steps.run(second.step)]
    expect(steps.running()).toBe(2)
    const look = steps.alone(() => seen.push(`alone beside ${steps.running()}`))
    const later = steps.run(async () => seen.push('later'))
    first.end()
    await running[0]
    expect(seen).toEqual([])
    second.end()
    await Promise.all([look, later])
    expect(seen).toEqual(['alone beside 0', 'later'])
    expect(steps.running()).toBe(0)
  })

  it('go on after a step or a look that failed', async () => {
    const steps = createLedgerSteps()
    await expect(steps.run(() => Promise.reject(new Error('refused')))).rejects.toThrow('refused')
    const fails = () => {
      throw new Error('not now')
    }
    await expect(steps.alone(fails)).rejects.toThrow('not now')
    expect(await steps.run(async () => 'done')).toBe('done')
  })

  it('let looks take turns', async () => {
    const steps = createLedgerSteps()
    const held = heldStep()
    const running = steps.run(held.step)
    const looks = [1, 2, 3].map((number) => steps.alone(() => number))
    held.end()
    await running
    expect(await Promise.all(looks)).toEqual([1, 2, 3])
  })
})
