/** Closes several parts. A part that fails to close does not keep the others open. */
import { SvcError } from '@svc-zerc20/protocol'

/** Runs all steps in order, even after a failed one. Throws the failures at the end. */
export async function closeAll(steps: readonly (() => unknown)[]): Promise<void> {
  const failures: unknown[] = []
  for (const step of steps) {
    try {
      await step()
    } catch (err) {
      failures.push(err)
    }
  }
  if (failures.length === 0) return
  const messages = failures.map((err) => (err instanceof Error ? err.message : String(err)))
  throw new SvcError('close_failed', `not closed in order: ${messages.join('; ')}`, {
    cause: failures.length === 1 ? failures[0] : new AggregateError(failures),
  })
}
