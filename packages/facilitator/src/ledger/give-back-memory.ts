/** Asks the engine to collect garbage now. Left alone, the engine waits until it needs memory itself. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

export function giveBackMemory(): void {
  setFlagsFromString('--expose-gc')
  // The function exists only in a context that is made after the flag was set.
  const collect: unknown = runInNewContext('gc')
  setFlagsFromString('--no-expose-gc')
  if (typeof collect === 'function') collect()
}
