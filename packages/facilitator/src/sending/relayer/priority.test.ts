import { describe, expect, it } from 'vitest'
import { createPriority } from './priority.js'

const newPriority = () => createPriority({ mintsInFlightMax: 1, mintQueueMax: 2 })

describe('priority of burns', () => {
  it('one works at a time, and burns that wait go before mints that wait', async () => {
    const priority = newPriority()
    const done: string[] = []
    let working = 0
    const work = (name: string) => async () => {
      working += 1
      expect(working).toBe(1)
      await new Promise(setImmediate)
      working -= 1
      done.push(name)
    }
    await Promise.all([
      priority.take('mint', work('mint 1')),
      priority.take('mint', work('mint 2')),
      priority.take('burn', work('burn 1')),
      priority.take('burn', work('burn 2')),
    ])
    expect(done).toEqual(['mint 1', 'burn 1', 'burn 2', 'mint 2'])
  })

  it('work that fails ends its own turn only', async () => {
    const priority = newPriority()
    const failed = priority.take('burn', () => Promise.reject(new Error('disk full')))
    const next = priority.take('burn', async () => 'signed')
    await expect(failed).rejects.toThrow('disk full')
    expect(await next).toBe('signed')
  })

  it('admits mints up to the bound, in order, and refuses when too many wait', async () => {
    const priority = newPriority()
    const admitted: number[] = []
    const admit = (name: number) => priority.admitMint().then(() => admitted.push(name))
    const waiting = [admit(1), admit(2), admit(3)]
    await expect(priority.admitMint()).rejects.toMatchObject({ code: 'relayer_busy' })
    expect(admitted).toEqual([1])
    priority.endMint()
    await waiting[1]
    expect(admitted).toEqual([1, 2])
    priority.endMint()
    await waiting[2]
    expect(admitted).toEqual([1, 2, 3])
  })

  it('mints of an earlier run are counted beyond the bound, and keep others waiting until they end', async () => {
    const priority = newPriority()
    priority.countMint()
    priority.countMint()
    let isAdmitted = false
    const admitted = priority.admitMint().then(() => {
      isAdmitted = true
    })
    priority.endMint()
    await new Promise(setImmediate)
    expect(isAdmitted).toBe(false)
    priority.endMint()
    await admitted
  })
})
