/** Privacy: how many burns could explain each mint, and what an operator can do about it. */
import { bars } from '../chart.js'
import { el } from '../dom.js'
import { amount, dayName, hash, hourName, plural, span, when } from '../format.js'
import { badge, facts, grouped, section, table, tile, tiles } from '../parts.js'
import type { AdminAnswers, Status } from './api.js'
import type { Screen } from './screen.js'

type Minted = AdminAnswers['mints']['mints'][number]
type Settings = AdminAnswers['mints']['settings']

/** Mints with fewer burns around them are guessed more often than not. */
const companyFew = 3

const companyOf = (members: readonly Minted[]) => Math.max(...members.map(({ company }) => company))

type NextBatch = NonNullable<Status['mints']['nextBatches']>[number]

function summary(groups: readonly (readonly Minted[])[], gathering: readonly NextBatch[]): HTMLElement {
  const companies = groups.map(companyOf).sort((a, b) => a - b)
  const alone = companies.filter((company) => company === 1).length
  const middle = companies[Math.floor(companies.length / 2)]
  return tiles(
    tile('Median company of a mint', middle === undefined ? '–' : plural(middle, 'burn'), 'could explain it'),
    tile(
      'Mints that stood alone',
      `${alone}`,
      `of ${plural(groups.length, 'mint')} below`,
      alone > 0 ? 'warn' : '',
    ),
    tile(
      'Largest batch',
      plural(Math.max(0, ...groups.map((members) => members.length)), 'payment'),
      'in one mint',
    ),
    ...gathering.map(({ payments, of, latestAt }) =>
      tile(
        'Next batch',
        plural(payments, 'payment'),
        el('span', {}, `goes with ${plural(of, 'account')}, by `, when(latestAt), ', even with fewer'),
      ),
    ),
  )
}

function settingsOf(settings: Settings): HTMLElement {
  const { mode, delayMaxSeconds, batchLeast, batchWaitMaxSeconds } = settings
  return section(
    'Settings that change it',
    facts(
      [
        'finalize.mode',
        el(
          'span',
          {},
          badge(mode),
          mode === 'single'
            ? ' Every mint shows the amount of one payment. batch shows sums instead.'
            : ' A mint shows a sum of payments.',
        ),
      ],
      ...(mode === 'single'
        ? ([
            [
              'finalize.delay_max_ms',
              `${span(delayMaxSeconds)}: each mint is held back for a random time up to this. Longer than the time between payments hides their order.`,
            ],
          ] as const)
        : ([
            [
              'finalize.batch_least',
              `Payments of ${plural(batchLeast, 'account')} are gathered for a batch.`,
            ],
            [
              'finalize.batch_wait_max_ms',
              `${span(batchWaitMaxSeconds)} at most until a batch goes, even with fewer.`,
            ],
          ] as const)),
      [
        'SVC_MINTER_PK',
        settings.ownMinter
          ? 'set: mints come from another account than burns.'
          : 'not set: one account sends burns and mints, so an observer sees that they belong together.',
      ],
    ),
  )
}

/** When the first and the last of these mints came, if there are enough of them for two times. */
const endsOf = (groups: readonly (readonly Minted[])[]): string[] =>
  (groups.length < 20 ? [groups[0]] : [groups[0], groups.at(-1)]).flatMap((members) =>
    members?.[0] ? `${dayName(members[0].at)}, ${hourName(members[0].at)}` : [],
  )

export const privacy: Screen = {
  title: 'Privacy',
  asks: () => ({ mints: 'limit=100' }),
  draw({ mints, token, status }) {
    if (!mints) return []
    const groups = grouped(
      mints.mints,
      ({ transaction, challengeNonce }) => transaction ?? challengeNonce,
    ).map(([, members]) => members)
    const drawn = groups.slice(0, 60).reverse()
    const largest = Math.max(0, ...drawn.map(companyOf))
    return [
      summary(groups, status.mints.nextBatches ?? []),
      section(
        'Company of each mint, oldest to newest',
        drawn.length === 0
          ? el('p', { class: 'calm' }, 'Nothing was minted yet.')
          : bars(
              `Company of the last ${plural(drawn.length, 'mint')}, at most ${largest}`,
              drawn.map((members) => ({
                value: companyOf(members),
                says: `${plural(companyOf(members), 'burn')} could explain this mint of ${plural(members.length, 'payment')}`,
              })),
              { top: plural(largest, 'burn'), axis: endsOf(drawn) },
            ),
        el(
          'p',
          { class: 'quiet' },
          'Everybody sees burns and mints, with their amounts and times. A mint could belong to every burn of its amount that was not minted before it. A company of one is a link that anybody can draw.',
        ),
      ),
      section(
        'What an observer could link',
        table(
          'Mints and their company',
          ['Finalized', 'Mint', 'Payments#', 'Minted#', 'Company#', 'Verdict'],
          groups.map((members) => {
            const [first] = members
            const company = companyOf(members)
            return {
              key: first?.transaction ?? first?.challengeNonce ?? '',
              cells: [
                first && when(first.at),
                hash(first?.transaction),
                `${members.length}`,
                amount(
                  members.reduce((sum, { minted }) => sum + BigInt(minted), 0n),
                  token,
                ),
                `${company}`,
                company === 1
                  ? badge('linked', 'bad')
                  : company < companyFew
                    ? badge('easy to guess', 'warn')
                    : badge('hidden', 'finalized'),
              ],
            }
          }),
          'Nothing was minted yet.',
        ),
      ),
      settingsOf(mints.settings),
    ]
  },
}
