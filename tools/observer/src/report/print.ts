/** The tables for people. `--json` has the same figures. */
import { textTable } from '@svc-zerc20/protocol'
import { type Guess, namesOf } from '../observe/guess.js'
import type { Results, Scenario, Settings, Surrounded } from './scenarios.js'
import { companyIn, estimate } from './score.js'

/** The least that batch mints have to reach. */
export const factorWanted = 10

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`

const head = ['', 'mints', 'company', 'linked', 'mint named', 'recipient named']

const row = ({ name, score }: Scenario): string[] => {
  const { least, median, most } = score.company
  return [
    name,
    String(score.mints),
    `${least}–${median}–${most}`,
    percent(score.linked),
    percent(score.mintNamed),
    percent(score.recipientNamed),
  ]
}

export const surroundHead = ['', 'payments', 'base units', 'named', 'after']

export const surroundRow = (how: Surrounded): string[] => [
  `from ${how.accounts === 1 ? 'one account' : `${how.accounts} accounts`}`,
  String(how.payments),
  String(how.cost),
  `${how.named} of ${how.runs}`,
  how.afterSeconds === undefined ? 'never' : `${Math.round(how.afterSeconds / 60)} minutes`,
]

export function printResults(
  settings: Settings,
  { alone, among, returning, surrounded, factor }: Results,
): string {
  const { payments, prices, perMinute } = settings.traffic
  const verdict = factor >= factorWanted ? 'reached' : 'missed'
  return `${payments} payments at ${prices.length} price points (${prices.join(', ')}), ${perMinute} a minute, seed ${settings.seed}

One facilitator alone on the token
${textTable([head, ...alone.map(row)])}
${settings.facilitators} facilitators on the token, which share these payments
${textTable([head, ...among.map(row)])}
The same facilitators, where ${3 * payments} payments come from ${Math.ceil(payments / 10)} accounts, each of one provider, which send their burns
${textTable([head, ...returning.map(row)])}
company          burns between which a mint hides: least, median, most
linked           somebody points at a payment that a mint credited: how often the observer names its burn
mint named       how often the observer names the mint that paid a burn out
recipient named  how often the observer names the recipient of a burn

Somebody surrounds a payment, half before and half after it, with payments of settlement.min_amount to the same provider
${textTable([surroundHead, ...surrounded.map(surroundRow)])}
A batch links ${factor.toFixed(1)} times less often than single mints without delay (wanted: ${factorWanted}; ${verdict}).
`
}

/** Names shown of a recorded history, the surest first. */
const namesShown = 10

export function printRecord(guesses: readonly Guess[]): string {
  const kinds = [
    { name: 'single', of: guesses.filter(({ mint }) => mint.range === undefined) },
    { name: 'batch', of: guesses.filter(({ mint }) => mint.range !== undefined) },
  ].filter(({ of }) => of.length > 0)
  if (kinds.length === 0) return 'No mints in this history.\n'
  const rows = kinds.map(({ name, of }) => {
    const { least, median, most } = companyIn(of)
    const { payments, linked } = estimate(of)
    return [name, String(of.length), `${payments}`, `${least}–${median}–${most}`, percent(linked)]
  })
  return `${textTable([['', 'mints', 'payments (estimate)', 'company', 'linked (estimate)'], ...rows])}
Nobody told the observer which burns these mints paid, so it estimates how often its names are right.

${textTable([['mint', 'value', 'recipient', 'burn', 'payer', 'sure'], ...surest(guesses).map(nameRow)])}`
}

const bestOf = ({ paid }: Guess): number => Math.max(0, ...paid.values())

const surest = (guesses: readonly Guess[]): readonly Guess[] =>
  guesses
    .filter((guess) => namesOf(guess).length > 0)
    .toSorted((one, other) => bestOf(other) - bestOf(one) || one.mint.leaf - other.mint.leaf)
    .slice(0, namesShown)

function nameRow(guess: Guess): string[] {
  const { mint } = guess
  const names = namesOf(guess)
  const [first] = names
  const others = names.length > 1 ? ` or ${names.length - 1} more` : ''
  return [
    `leaf ${mint.leaf}`,
    `${mint.value}`,
    mint.to,
    `leaf ${first?.leaf}${others}`,
    first?.from ?? '',
    percent(bestOf(guess) / (mint.range === undefined ? names.length : 1)),
  ]
}
