import { describe, expect, it } from 'vitest'
import { createSerial } from './serial.js'

describe('serial', () => {
  it('begins a job when the one before it has ended', async () => {
    const serial = createSerial()
    const heard: string[] = []
    const job = (name: string) => async () => {
      heard.push(`${name} begins`)
      await new Promise((resolve) => setImmediate(resolve))
      heard.push(`${name} ends`)
      return name
    }
    expect(await Promise.all([serial(job('one')), serial(job('two'))])).toEqual(['one', 'two'])
    expect(heard).toEqual(['one begins', 'one ends', 'two begins', 'two ends'])
  })

  it('tells the failure of a job to whoever gave it, and goes on', async () => {
    const serial = createSerial()
    const failing = serial(() => Promise.reject(new Error('no')))
    const next = serial(async () => 'next')
    await expect(failing).rejects.toThrow('no')
    expect(await next).toBe('next')
  })
})
