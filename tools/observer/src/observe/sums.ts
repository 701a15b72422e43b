/**
 * Mints of many burns each. A mint shows a sum and the range of leaves that its proof counted. The observer weighs every
 * set of burns in that range which adds up to the sum. It learns from its own answers how old burns usually are when a
 * batch pays them, and a burn that one mint probably pays is unlikely for the others.
 */
import type { Mint, Transfer } from '../chain-view.js'
import { ageClass } from './evidence.js'
import type { Guess } from './guess.js'
import type { Belonging } from './returning.js'
import type { SenderRule } from './senders.js'
import { explainSum } from './subset-sum.js'

const learningRounds = 10
/** The latest burns of a range that are weighed. A proof counts at most thirty. */
const candidatesMax = 240

type Candidate = { readonly burn: Transfer; readonly age: number; paid: number }
type Question = { readonly mint: Mint; readonly candidates: readonly Candidate[] }

type Known = {
  readonly fits: SenderRule
  readonly belongs: Belonging
  /** Burn → probability that a mint of one burn pays it. */
  readonly paidElsewhere: ReadonlyMap<Transfer, number>
}

export function explainSums(
  mints: readonly Mint[],
  burns: readonly Transfer[],
  { fits, belongs, paidElsewhere }: Known,
): readonly Guess[] {
  const questions = mints.map((mint) => ({ mint, candidates: candidatesOf(mint, burns, fits) }))
  const freeOf = createFreeOf(questions, paidElsewhere)
  let ages: ReadonlyMap<number, number> = new Map()
  for (let round = 0; round < learningRounds; round++) {
    for (const question of questions) answer(question, freeOf, ages, belongs)
    ages = learnAges(questions, freeOf)
  }
  return questions.map(({ mint, candidates }) => ({
    mint,
    paid: new Map(candidates.map(({ burn, paid }) => [burn, paid])),
  }))
}

function candidatesOf(mint: Mint, burns: readonly Transfer[], fits: SenderRule): Candidate[] {
  const { start, end } = mint.range ?? { start: 0, end: mint.rootSize }
  return burns
    .filter(
      ({ leaf, time, value }) => leaf >= start && leaf < end && time <= mint.time && value <= mint.value,
    )
    .filter((burn) => fits(mint, burn))
    .slice(-candidatesMax)
    .map((burn) => ({ burn, age: ageClass(mint.time - burn.time), paid: 0 }))
}

/** Chance that no other mint pays a candidate's burn. */
type FreeOf = (candidate: Candidate) => number

function createFreeOf(questions: readonly Question[], paidElsewhere: ReadonlyMap<Transfer, number>): FreeOf {
  const byBurn = new Map<Transfer, Candidate[]>()
  for (const candidate of questions.flatMap(({ candidates }) => candidates)) {
    byBurn.set(candidate.burn, [...(byBurn.get(candidate.burn) ?? []), candidate])
  }
  return (candidate) =>
    (byBurn.get(candidate.burn) ?? [])
      .filter((other) => other !== candidate)
      .reduce((free, { paid }) => free * (1 - paid), 1 - (paidElsewhere.get(candidate.burn) ?? 0))
}

const [leastChance, mostChance] = [1e-6, 1 - 1e-6]

function answer(
  { mint, candidates }: Question,
  freeOf: FreeOf,
  ages: ReadonlyMap<number, number>,
  belongs: Belonging,
): void {
  const parts = candidates.map((candidate) => {
    const chance = (ages.get(candidate.age) ?? 0.5) * freeOf(candidate) * belongs(mint, candidate.burn)
    return { value: candidate.burn.value, chance: Math.min(mostChance, Math.max(leastChance, chance)) }
  })
  const found = explainSum(parts, mint.value) ?? explainByRun(candidates, mint.value)
  for (const [i, candidate] of candidates.entries()) {
    candidate.paid = found?.[i] ?? parts[i]?.chance ?? 0
  }
}

/** Age → how often a burn of that age that nobody else has is paid. */
function learnAges(questions: readonly Question[], freeOf: FreeOf): ReadonlyMap<number, number> {
  const sums = new Map<number, { paid: number; free: number }>()
  for (const candidate of questions.flatMap(({ candidates }) => candidates)) {
    const sum = sums.get(candidate.age) ?? { paid: 0.5, free: 1 }
    sum.paid += candidate.paid
    sum.free += Math.max(candidate.paid, freeOf(candidate))
    sums.set(candidate.age, sum)
  }
  return new Map([...sums].map(([age, { paid, free }]) => [age, paid / free]))
}

/** For amounts too odd to weigh all sets: the latest run of burns, one after another, that adds up to the sum. */
function explainByRun(candidates: readonly Candidate[], sum: bigint): readonly number[] | undefined {
  for (let last = candidates.length - 1; last >= 0; last--) {
    let total = 0n
    for (let first = last; first >= 0 && total < sum; first--) {
      total += candidates[first]?.burn.value ?? 0n
      if (total === sum) return candidates.map((_, i) => (i >= first && i <= last ? 1 : 0))
    }
  }
  return undefined
}
