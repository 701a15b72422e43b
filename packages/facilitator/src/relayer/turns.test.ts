import { describe, expect, it } from 'vitest'
import { createTurns } from './turns.js'

const newTurns = () => createTurns({ mintsInFlightMax: 1, mintQueueMax: 2 })

describe('turns', () => {
  it('one works at a time, and burns that wait go before mints that wait', async () => {
    const turns = newTurns()
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
      turns.take('mint', work('mint 1')),
      turns.take('mint', work('mint 2')),
      turns.take('burn', work('burn 1')),
      turns.take('burn', work('burn 2')),
    ])
    expect(done).toEqual(['mint 1', 'burn 1', 'burn 2', 'mint 2'])
  })

  it('work that fails ends its own turn only', async () => {
    const turns = newTurns()
    const failed = turns.take('burn', () => Promise.reject(new Error('disk full')))
    const next = turns.take('burn', async () => 'signed')
    await expect(failed).rejects.toThrow('disk full')
    expect(await next).toBe('signed')
  })

  it('admits mints up to the bound, in order, and refuses when too many wait', async () => {
    const turns = newTurns()
    const admitted: number[] = []
    const admit = (name: number) => turns.admitMint().then(() => admitted.push(name))
    const waiting = [admit(1), admit(2), admit(3)]
    await expect(turns.admitMint()).rejects.toMatchObject({ code: 'relayer_busy' })
    expect(admitted).toEqual([1])
    turns.endMint()
    await waiting[1]
    expect(admitted).toEqual([1, 2])
    turns.endMint()
    await waiting[2]
    expect(admitted).toEqual([1, 2, 3])
  })

  it('mints of an earlier run are counted beyond the bound, and keep others waiting until they end', async () => {
    const turns = newTurns()
    turns.countMint()
    turns.countMint()
    let isAdmitted = false
    const admitted = turns.admitMint().then(() => {
      isAdmitted = true
    })
    turns.endMint()
    await new Promise(setImmediate)
    expect(isAdmitted).toBe(false)
    turns.endMint()
    await admitted
  })
})
