import { afterEach, expect, it, vi } from 'vitest'
import { openTestStore } from '../../../test/store.js'
import { createPauseMemory } from './pause.js'

afterEach(() => vi.restoreAllMocks())

it('a pause at one daemon holds at the others a moment later, and the operator hears of it at once', async () => {
  // Whatever is done to the clock of the machine.
  const elapsed = vi.spyOn(performance, 'now').mockReturnValue(0)
  const { store, close } = await openTestStore()
  const [one, other] = [0, 1].map(() => createPauseMemory({ store, freshMs: 250 }))
  expect(await other?.recent()).toBeUndefined()
  await one?.set({ words: 'back at noon' })
  expect(await one?.recent()).toEqual({ words: 'back at noon' })
  elapsed.mockReturnValue(250)
  expect(await other?.recent()).toEqual({ words: 'back at noon' })
  await one?.set(undefined)
  expect(await other?.recent()).toEqual({ words: 'back at noon' })
  expect(await other?.now()).toBeUndefined()
  expect(await other?.recent()).toBeUndefined()
  await close()
})

it('a daemon that nobody else can pause asks its store once', async () => {
  const { store, close } = await openTestStore()
  let asked = 0
  const counting: Pick<typeof store, 'ask' | 'change'> = {
    change: store.change,
    ask(question) {
      asked += 1
      return store.ask(question)
    },
  }
  const memory = createPauseMemory({ store: counting, freshMs: Number.POSITIVE_INFINITY })
  for (let i = 0; i < 5; i++) expect(await memory.recent()).toBeUndefined()
  await memory.set({})
  expect(await memory.recent()).toEqual({})
  expect(asked).toBe(1)
  await close()
})
