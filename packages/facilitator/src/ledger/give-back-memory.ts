/** Asks the engine to give memory back now, which it would otherwise do when it happens to need some. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

export function giveBackMemory(): void {
  setFlagsFromString('--expose-gc')
  // Only a context that is made after the flag has the function.
  const collect: unknown = runInNewContext('gc')
  setFlagsFromString('--no-expose-gc')
  if (typeof collect === 'function') collect()
}
