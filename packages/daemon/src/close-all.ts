/** Ends what was opened, all of it: a part that cannot be closed keeps no other open. */
import { SvcError } from '@svc-zerc20/protocol'

/** Takes the steps in turn, each whatever became of those before; throws at the end what failed. */
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
