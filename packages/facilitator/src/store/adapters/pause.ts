/** The operator's pause of issuance, as the store has it. */
import type { Pause, PauseMemory } from '../../payment/issue/issuance.js'
import { readSetting } from '../rows/rows.js'
import type { Store } from '../store.js'

const name = 'pause'

/**
 * `freshMs` is how long an answer of the store is good: for ever where nobody else can write there. It is counted by a clock
 * that nobody sets back: a pause would be hidden for as long.
 */
export function createPauseMemory({
  store,
  freshMs,
}: {
  readonly store: Pick<Store, 'ask' | 'change'>
  readonly freshMs: number
}): PauseMemory {
  let known: { readonly pause: Pause | undefined; readonly untilMs: number } | undefined
  let changes = 0
  let asking: Promise<Pause | undefined> | undefined

  const learn = (pause: Pause | undefined) => {
    known = { pause, untilMs: performance.now() + freshMs }
  }

  async function now(): Promise<Pause | undefined> {
    const before = changes
    const pause = (await store.ask(readSetting<Pause | null>(name))) ?? undefined
    // An answer from before a change of ours is old already.
    if (before === changes) learn(pause)
    return pause
  }

  return {
    now,
    async recent() {
      if (known && performance.now() < known.untilMs) return known.pause
      asking ??= now().finally(() => {
        asking = undefined
      })
      return asking
    },
    async set(pause) {
      changes += 1
      await store.change('changeSetting', name, pause ?? null)
      changes += 1
      learn(pause)
    },
  }
}
