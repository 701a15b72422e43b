import { SvcError } from '@svc-zerc20/protocol'
import { describe, expect, it } from 'vitest'
import type { LogEvent } from './events.js'
import { createSummedLog } from './summed.js'

function setup() {
  const written: LogEvent[] = []
  /** Ends the windows that are open. */
  const elapse: (() => void)[] = []
  const clock = {
    now: () => 0,
    sleep: (_ms: number, signal?: AbortSignal) =>
      new Promise<void>((resolve) => {
        elapse.push(resolve)
        signal?.addEventListener('abort', () => resolve())
      }),
  }
  const { log, close } = createSummedLog({
    log: (event) => void written.push(event),
    clock,
    windowMs: 60_000,
  })
  const endWindows = async () => {
    for (const end of elapse.splice(0)) end()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { log, close, written, endWindows }
}

const failure = (n: number) =>
  ({ event: 'rpc.failed', err: new SvcError('rpc_error', `the RPC answered ${n}`) }) as const

describe('the summed log', () => {
  it('warns of no leak when an outage brings many kinds of failure at once', async () => {
    const warnings: Error[] = []
    const note = (warning: Error) => void warnings.push(warning)
    process.on('warning', note)
    const { log, close } = setup()
    for (let n = 0; n < 20; n++)
      log({ event: 'request.failed', route: `/${n}`, err: new Error('away') } as unknown as LogEvent)
    // Warnings are told in a later turn.
    await new Promise((resolve) => setTimeout(resolve, 10))
    process.off('warning', note)
    close()
    expect(warnings).toEqual([])
  })

  it('sums up what strangers can bring about', async () => {
    const { log, written, endWindows } = setup()
    const guess = { event: 'seller.unknown_token', caller: '192.0.2.1' } as const
    for (let n = 0; n < 100; n++) log(guess)
    await endWindows()
    const repeated = {
      event: 'log.repeated',
      of: 'seller.unknown_token',
      message: '',
      count: 99,
      seconds: 60,
    }
    expect(written).toEqual([guess, repeated])
  })

  it('writes the first failure of a kind in full and the rest as one line with a count', async () => {
    const { log, written, endWindows } = setup()
    for (let n = 500; n < 600; n++) log(failure(n))
    expect(written).toEqual([failure(500)])
    await endWindows()
    expect(written.slice(1)).toEqual([
      { event: 'log.repeated', of: 'rpc.failed', message: 'the RPC answered 599', count: 99, seconds: 60 },
    ])
    // The failures continue, so no second stack is written.
    log(failure(1))
    await endWindows()
    expect(written.slice(2)).toMatchObject([{ event: 'log.repeated', count: 1 }])
    // After a quiet window the next failure is written in full again.
    await endWindows()
    log(failure(2))
    expect(written.at(-1)).toEqual(failure(2))
  })

  it('tells kinds apart, and what happened to a payment is never left out', async () => {
    const { log, written } = setup()
    log({ event: 'mint.failed', reason: 'unfunded', err: undefined })
    log({ event: 'mint.failed', reason: 'reverted', err: undefined })
    expect(written).toHaveLength(2)
    for (const challengeNonce of ['0xa', '0xb']) {
      log({ event: 'burn.interrupted', challengeNonce, err: new Error('no answer') })
    }
    log({ event: 'payment.accepted', challengeNonce: '0xc', txHash: '0xd', amount: 1n })
    expect(written.slice(2)).toEqual([
      { event: 'burn.interrupted', challengeNonce: '0xa', err: new Error('no answer') },
      { event: 'burn.interrupted', challengeNonce: '0xb', err: 'no answer' },
      { event: 'payment.accepted', challengeNonce: '0xc', txHash: '0xd', amount: 1n },
    ])
  })

  it('says at its end what it left out', async () => {
    const { log, close, written } = setup()
    log(failure(1))
    log(failure(2))
    log({ event: 'finalize.failed', err: new Error('another kind') })
    close()
    await new Promise((resolve) => setImmediate(resolve))
    expect(written.map(({ event }) => event)).toEqual(['rpc.failed', 'finalize.failed', 'log.repeated'])
  })
})
