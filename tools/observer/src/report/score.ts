/**
 * The scoring. Three questions are put to the observer for every payment of a history:
 *
 * 1. Who paid this? A judge points at one payment that a mint credited, and tells the mint and nothing else. The observer
 *    names one burn. A mint of one burn is one question. A mint of thirty burns is thirty questions that look alike, so
 *    even an observer that knows all thirty burns is right once. This is what `linked` counts.
 * 2. Which mint paid this burn out?
 * 3. Whom did this burn pay?
 *
 * For the last two the observer names, for every burn, the mint and the recipient that its opinions make likeliest.
 * Where it cannot tell several names apart it takes any of them, and the score is the expected number of right names.
 * Being sure counts for nothing: only a right name does.
 */
import type { Mint } from '../chain-view.js'
import { companyOf, type Guess, namesOf } from '../observe/guess.js'
import type { World } from '../simulate/world.js'

export type Score = {
  readonly payments: number
  readonly mints: number
  /** Share of payments whose burn the observer names when a judge points at them. */
  readonly linked: number
  /** Share of burns whose mint the observer names. */
  readonly mintNamed: number
  /** Share of burns whose recipient the observer names. */
  readonly recipientNamed: number
  /** Burns between which each mint hides. */
  readonly company: { readonly least: number; readonly median: number; readonly most: number }
}

export function score(guesses: readonly Guess[], truth: World['truth']): Score {
  const payments = [...truth.values()].reduce((sum, burns) => sum + burns.length, 0)
  const right = guesses.reduce((sum, guess) => sum + shareRight(guess, truth.get(guess.mint.leaf) ?? []), 0)
  return {
    payments,
    mints: guesses.length,
    linked: right / payments,
    mintNamed: countNamed(guesses, truth, ({ leaf }) => leaf) / payments,
    recipientNamed: countNamed(guesses, truth, ({ to }) => to) / payments,
    company: companyIn(guesses),
  }
}

/** Chance that one of the observer's equal names is a burn of the mint. */
function shareRight(guess: Guess, burns: readonly number[]): number {
  const names = namesOf(guess)
  return names.length === 0 ? 0 : names.filter(({ leaf }) => burns.includes(leaf)).length / names.length
}

/** The number of burns for which the observer names what belongs to their mint. */
function countNamed<T>(guesses: readonly Guess[], truth: World['truth'], nameOf: (mint: Mint) => T): number {
  const opinions = new Map<number, Map<T, number>>()
  const trueNames = new Map<number, T>()
  for (const { mint, paid } of guesses) {
    const name = nameOf(mint)
    for (const [{ leaf }, p] of paid) {
      const opinion = opinions.get(leaf) ?? new Map<T, number>()
      opinions.set(leaf, opinion.set(name, (opinion.get(name) ?? 0) + p))
    }
    for (const leaf of truth.get(mint.leaf) ?? []) trueNames.set(leaf, name)
  }
  return [...trueNames].reduce((sum, [leaf, name]) => {
    const opinion = [...(opinions.get(leaf) ?? [])]
    const best = Math.max(0, ...opinion.map(([, p]) => p))
    const names = opinion.filter(([, p]) => best > 0 && p >= best * (1 - 1e-9)).map(([named]) => named)
    return sum + (names.includes(name) ? 1 / names.length : 0)
  }, 0)
}

export function companyIn(guesses: readonly Guess[]): Score['company'] {
  const sizes = guesses.map(companyOf).toSorted((one, other) => one - other)
  return { least: sizes[0] ?? 0, median: sizes[sizes.length >> 1] ?? 0, most: sizes.at(-1) ?? 0 }
}

/** The observer's own estimate, for a history whose truth nobody gives: how often it expects its names to be right. */
export function estimate(guesses: readonly Guess[]): { readonly payments: number; readonly linked: number } {
  const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0)
  const payments = sum(guesses.flatMap(({ paid }) => [...paid.values()]))
  const right = sum(guesses.map((guess) => best(guess)))
  return { payments: Math.round(payments), linked: payments === 0 ? 0 : right / payments }
}

const best = ({ paid }: Guess): number => Math.max(0, ...paid.values())
