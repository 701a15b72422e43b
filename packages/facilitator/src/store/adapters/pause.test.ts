import { expect, it } from 'vitest'
import { stoppedClock } from '../../../../../test/support/clocks.js'
import { openTestStore } from '../../../test/store.js'
import { createPauseMemory } from './pause.js'

it('a pause at one daemon holds at the others a moment later, and the operator hears of it at once', async () => {
  const clock = stoppedClock()
  const { store, close } = await openTestStore({}, clock)
  const [one, other] = [0, 1].map(() => createPauseMemory({ store, clock, freshMs: 250 }))
  expect(await other?.recent()).toBeUndefined()
  await one?.set({ words: 'back at noon' })
  expect(await one?.recent()).toEqual({ words: 'back at noon' })
  clock.advance(250)
  expect(await other?.recent()).toEqual({ words: 'back at noon' })
  await one?.set(undefined)
  expect(await other?.recent()).toEqual({ words: 'back at noon' })
  expect(await other?.now()).toBeUndefined()
  expect(await other?.recent()).toBeUndefined()
  await close()
})

it('a daemon that nobody else can pause asks its store once', async () => {
  const { store, clock, close } = await openTestStore()
  let asked = 0
  const counting: Pick<typeof store, 'ask' | 'change'> = {
    change: store.change,
    ask(question) {
      asked += 1
      return store.ask(question)
    },
  }
  const memory = createPauseMemory({ store: counting, clock, freshMs: Number.POSITIVE_INFINITY })
  for (let i = 0; i < 5; i++) expect(await memory.recent()).toBeUndefined()
  await memory.set({})
  expect(await memory.recent()).toEqual({})
  expect(asked).toBe(1)
  await close()
})
