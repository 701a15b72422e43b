import { setTimeout } from 'node:timers/promises'

/** Returns when the condition holds; the test's own time limit is the only one. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await setTimeout(2)
}
