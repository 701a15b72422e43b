/**
 * Payers who come back. An account that pays one provider puts all its burns of a range into that provider's sum, or none of them.
 * So every sum is an equation between accounts, and a few sums leave one answer. Accounts and sums tell each other what they
 * believe until nobody learns anything new.
 */
import type { Mint, Transfer } from '../chain-view.js'
import type { SenderRule } from './senders.js'
import { explainSum } from './subset-sum.js'

/** How likely the account of a burn belongs to the recipient of a mint. 1 for accounts that paid once: they tell nothing. */
export type Belonging = (mint: Mint, burn: Transfer) => number

const learningRounds = 20
const [leastChance, mostChance] = [1e-4, 1 - 1e-4]

type Part = { readonly account: string; readonly value: bigint; heard: number }
type Sum = { readonly mint: Mint; readonly parts: readonly Part[] }

export function readReturning(
  mints: readonly Mint[],
  burns: readonly Transfer[],
  fits: SenderRule,
): Belonging {
  const returning = comeBack(burns)
  if (returning.size === 0) return () => 1
  const recipients = [...new Set(mints.map(({ to }) => to))]
  const sums = mints.map((mint) => ({ mint, parts: partsOf(mint, burns, fits) }))
  const beliefs = createBeliefs(recipients)
  for (let round = 0; round < learningRounds; round++) for (const sum of sums) hear(sum, beliefs)
  return ({ to }, { from }) => (returning.has(from) ? beliefs.of(from, to) : 1)
}

function comeBack(burns: readonly Transfer[]): ReadonlySet<string> {
  const seen = new Set<string>()
  return new Set(burns.map(({ from }) => from).filter((from) => seen.size === seen.add(from).size))
}

/** What each account burned in the range of a mint. */
function partsOf(mint: Mint, burns: readonly Transfer[], fits: SenderRule): readonly Part[] {
  const { start, end } = mint.range ?? { start: 0, end: mint.rootSize }
  const values = new Map<string, bigint>()
  for (const burn of burns) {
    if (burn.leaf < start || burn.leaf >= end || !fits(mint, burn)) continue
    values.set(burn.from, (values.get(burn.from) ?? 0n) + burn.value)
  }
  return [...values].map(([account, value]) => ({ account, value, heard: 0 }))
}

type Beliefs = ReturnType<typeof createBeliefs>

/** What all sums said of each account and recipient, as logarithms of odds. An account pays one recipient. */
function createBeliefs(recipients: readonly string[]) {
  const said = new Map<string, Map<string, number>>()
  const saidOf = (account: string, to: string) => said.get(account)?.get(to) ?? 0
  return {
    tell(account: string, to: string, change: number): void {
      const ofAccount = said.get(account) ?? new Map<string, number>()
      said.set(account, ofAccount.set(to, saidOf(account, to) + change))
    },
    /** The chance that the account pays this recipient, without what one sum itself has said. */
    of(account: string, to: string, without = 0): number {
      const all = recipients.map((recipient) => saidOf(account, recipient) - (recipient === to ? without : 0))
      const most = Math.max(...all)
      const total = all.reduce((sum, one) => sum + Math.exp(one - most), 0)
      return Math.exp(saidOf(account, to) - without - most) / total
    },
  }
}

/** Weighs one sum anew, with what all others believe. A sum that no accounts explain says nothing. */
function hear({ mint, parts }: Sum, beliefs: Beliefs): void {
  const chances = parts.map(({ account, heard }) => clamp(beliefs.of(account, mint.to, heard)))
  const found = explainSum(
    parts.map(({ value }, i) => ({ value, chance: chances[i] ?? 0 })),
    mint.value,
  )
  for (const [i, part] of parts.entries()) {
    const told = found === undefined ? 0 : odds(clamp(found[i] ?? 0)) - odds(chances[i] ?? 0.5)
    // Half of what is new: accounts that answer each other at once never come to rest.
    const change = (told - part.heard) / 2
    part.heard += change
    beliefs.tell(part.account, mint.to, change)
  }
}

const clamp = (chance: number): number => Math.min(mostChance, Math.max(leastChance, chance))
const odds = (chance: number): number => Math.log(chance / (1 - chance))
