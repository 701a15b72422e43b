/** The observer: from the public record of a token to an opinion about every mint. */
import type { ChainView, Transfer } from '../chain-view.js'
import { pairEqualAmounts } from './equal-amounts.js'
import type { Guess } from './guess.js'
import { readReturning } from './returning.js'
import { readSenders } from './senders.js'
import { explainSums } from './sums.js'

const nobody = `0x${'0'.repeat(40)}`

export function observe(view: ChainView): readonly Guess[] {
  const burns = possibleBurns(view)
  const fits = readSenders(view.mints, burns)
  const single = view.mints.filter(({ range }) => range === undefined)
  const batch = view.mints.filter(({ range }) => range !== undefined)
  const pairs = pairEqualAmounts(single, burns, view.roots, fits)
  const sums = explainSums(batch, burns, {
    fits,
    belongs: readReturning(batch, burns, fits),
    paidElsewhere: paidBy(pairs),
  })
  return [...pairs, ...sums].toSorted((one, other) => one.mint.leaf - other.mint.leaf)
}

/** Burn → probability that one of these mints pays it. */
function paidBy(guesses: readonly Guess[]): ReadonlyMap<Transfer, number> {
  const paid = new Map<Transfer, number>()
  for (const [burn, p] of guesses.flatMap((guess) => [...guess.paid])) {
    paid.set(burn, Math.min(1, (paid.get(burn) ?? 0) + p))
  }
  return paid
}

/** Transfers that can be burns: their receivers never sent anything and earned no mint. */
function possibleBurns({ transfers, mints }: ChainView): readonly Transfer[] {
  const alive = new Set([...transfers.map(({ from }) => from), ...mints.map(({ to }) => to), nobody])
  return transfers.filter(({ from, to, value }) => from !== nobody && value > 0n && !alive.has(to))
}
