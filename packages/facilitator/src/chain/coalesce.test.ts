import { describe, expect, it } from 'vitest'
import { createCoalescer } from './coalesce.js'

/** Lets all scheduled callbacks run. */
async function turn(): Promise<void> {
  for (let i = 0; i < 10; i++) await new Promise<void>((resolve) => setImmediate(resolve))
}

/** Records calls, which end when the test says so. */
function recorder() {
  const calls: {
    questions: readonly number[]
    end: (answers?: readonly number[]) => void
    fail: () => void
  }[] = []
  const run = (questions: readonly number[]) =>
    new Promise<readonly number[]>((resolve, reject) => {
      calls.push({
        questions,
        end: (answers = questions.map((question) => question * 10)) => resolve(answers),
        fail: () => reject(new Error('the call failed')),
      })
    })
  return { calls, run }
}

describe('createCoalescer', () => {
  it('takes what arrives in one turn together and answers each its own', async () => {
    const { calls, run } = recorder()
    const coalescer = createCoalescer({ run, batchMax: 10, inFlightMax: 1 })
    const answers = Promise.all([1, 2, 3].map((question) => coalescer.ask(question)))
    await turn()
    expect(calls.map(({ questions }) => questions)).toEqual([[1, 2, 3]])
    calls[0]?.end()
    expect(await answers).toEqual([10, 20, 30])
  })

  it('lets further questions gather while as many calls are out as allowed', async () => {
    const { calls, run } = recorder()
    const coalescer = createCoalescer({ run, batchMax: 2, inFlightMax: 2 })
    const answers = Promise.all([1, 2, 3, 4, 5, 6, 7].map((question) => coalescer.ask(question)))
    await turn()
    expect(calls.map(({ questions }) => questions)).toEqual([
      [1, 2],
      [3, 4],
    ])
    expect(coalescer.size()).toBe(3)
    calls[0]?.end()
    calls[1]?.end()
    await turn()
    expect(calls.slice(2).map(({ questions }) => questions)).toEqual([[5, 6], [7]])
    calls[2]?.end()
    calls[3]?.end()
    expect(await answers).toEqual([10, 20, 30, 40, 50, 60, 70])
  })

  it('gathers questions beside a call that is out, until they fill one or no other is out', async () => {
    const { calls, run } = recorder()
    const beside: number[] = []
    const gather = (inFlight: number, enough: AbortSignal) => {
      beside.push(inFlight)
      return new Promise<void>((end) => enough.addEventListener('abort', () => end()))
    }
    const coalescer = createCoalescer({ run, batchMax: 2, inFlightMax: 3, gather })
    const answers = Promise.all([1, 2, 3, 4].map((question) => coalescer.ask(question)))
    await turn()
    expect(calls.map(({ questions }) => questions)).toEqual([
      [1, 2],
      [3, 4],
    ])
    const [fifth, sixth] = [coalescer.ask(5), turn().then(() => coalescer.ask(6))]
    await turn()
    expect(calls.at(-1)?.questions).toEqual([5, 6])
    const seventh = coalescer.ask(7)
    for (const call of calls) call.end()
    await turn()
    expect(calls.at(-1)?.questions).toEqual([7])
    calls.at(-1)?.end()
    expect(await Promise.all([answers, fifth, sixth, seventh])).toEqual([[10, 20, 30, 40], 50, 60, 70])
    expect(beside).toEqual([2, 2])
  })

  it('a failed call fails its own questions and no others', async () => {
    const { calls, run } = recorder()
    const coalescer = createCoalescer({ run, batchMax: 1, inFlightMax: 1 })
    const outcomes = Promise.allSettled([coalescer.ask(1), coalescer.ask(2)])
    await turn()
    calls[0]?.fail()
    await turn()
    calls[1]?.end()
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
  })

  it('an answer that is missing rejects instead of waiting forever', async () => {
    const { calls, run } = recorder()
    const coalescer = createCoalescer({ run, batchMax: 5, inFlightMax: 1 })
    const outcomes = Promise.allSettled([coalescer.ask(1), coalescer.ask(2)])
    await turn()
    calls[0]?.end([10])
    expect((await outcomes).map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
  })
})
