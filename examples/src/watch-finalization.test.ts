import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { watchFinalization } from './watch-finalization.js'

const minuteMs = 60_000
const network = { facilitatorUrl: 'http://facilitator', indexerUrl: 'http://indexer', adminToken: 'token' }
let timeline: { event: string }[]
let provedIndex: number | null
let said: string[]

beforeEach(() => {
  vi.useFakeTimers()
  timeline = []
  provedIndex = null
  said = []
  const index = { tree_synced_index: null, onchain_reserved_index: null }
  vi.stubGlobal('fetch', async (url: string) => ({
    ok: true,
    json: async () =>
      url.startsWith(network.indexerUrl)
        ? [{ ...index, onchain_proved_index: provedIndex }]
        : { payment: {}, timeline },
  }))
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

const watch = () =>
  watchFinalization({
    network,
    payments: [{ name: 'the first', nonce: '0x1' }],
    logFile: 'facilitator.log',
    say: (text) => said.push(text),
  })

it('after ten minutes without news it gives up, and names the log', async () => {
  const watched = watch()
  await vi.advanceTimersByTimeAsync(9.9 * minuteMs)
  expect(said.join()).not.toContain('gave up')
  await vi.advanceTimersByTimeAsync(0.2 * minuteMs)
  expect(await watched).toBe(false)
  expect(said.at(-1)).toMatch(
    / 600\.\d s {2}gave up waiting: nothing happened for 10 minutes; facilitator\.log tells more$/,
  )
})

it('news prolongs it, however long all of it takes', async () => {
  const watched = watch()
  for (const index of [1, 2, 3]) {
    await vi.advanceTimersByTimeAsync(9 * minuteMs)
    provedIndex = index
  }
  await vi.advanceTimersByTimeAsync(9 * minuteMs)
  timeline.push({ event: 'payment_finalized' })
  await vi.advanceTimersByTimeAsync(minuteMs)
  expect(await watched).toBe(true)
  expect(said.join()).not.toContain('gave up')
})
