/** What each hour brought. Days that are over do not change, so they are added up once. */
import { type Clock, createBoundedMap } from '@svc-zerc20/protocol'
import type { Books, HourFigures } from './books.js'

const daySeconds = 86_400

export type HourBooks = (since: number, until: number) => Promise<readonly HourFigures[]>

export function createHourBooks(deps: {
  readonly books: Pick<Books, 'hours'>
  readonly clock: Pick<Clock, 'now'>
  /** Days that are kept. */
  readonly daysMax: number
}): HourBooks {
  const { books, clock } = deps
  const kept = createBoundedMap<number, readonly HourFigures[]>(deps.daysMax)

  /** A reorg can take burns of the last hours away. After a day nothing changes. */
  async function dayFrom(start: number): Promise<readonly HourFigures[]> {
    const known = kept.get(start)
    if (known) return known
    const hours = await books.hours(start, start + daySeconds)
    if (start + 2 * daySeconds <= clock.now() / 1000) kept.set(start, hours)
    return hours
  }

  return async (since, until) => {
    const hours: HourFigures[] = []
    const first = since - (since % daySeconds)
    // One question for each day: others are answered in between.
    for (let start = first; start < until; start += daySeconds) hours.push(...(await dayFrom(start)))
    return hours.filter(({ at }) => at >= since && at < until)
  }
}
