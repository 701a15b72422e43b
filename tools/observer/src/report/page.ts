/** The results as a page with charts. */
import { pageOf } from '#report'
import { factorWanted, surroundHead, surroundRow } from './print.js'
import type { Results, Scenario, Settings } from './scenarios.js'

const percent = (share: number): number => Number((share * 100).toFixed(1))

export function resultsPage(
  settings: Settings,
  { alone, among, returning, surrounded, factor }: Results,
): string {
  const { payments, prices, perMinute } = settings.traffic
  return pageOf({
    title: 'How often the chain gives a payment away',
    lead: `${payments} simulated payments at ${prices.length} price points, ${perMinute} a minute, seed ${settings.seed}. An observer of the chain names the burn of each payment that a mint credited. A batch links ${factor.toFixed(1)} times less often than single mints without delay; wanted are ${factorWanted}.`,
    sections: [
      sectionOf('One facilitator alone on the token', alone),
      sectionOf(`${settings.facilitators} facilitators on the token, which share these payments`, among),
      sectionOf('The same, with payers who send their burns and come back', returning),
      {
        heading: 'Somebody who pays to find out',
        text: `Bars: how often whoever surrounds a payment in its batch learns whom it paid.`,
        bars: {
          unit: '%',
          rows: surrounded.map((how) => ({
            label: `${how.payments} payments around it, ${surroundRow(how)[0]}`,
            value: percent(how.named / how.runs),
          })),
        },
        table: { head: surroundHead, rows: surrounded.map(surroundRow) },
      },
    ],
  })
}

const isBatch = ({ name }: Scenario) => name.startsWith('batch')

const sectionOf = (heading: string, scenarios: readonly Scenario[]) => ({
  heading,
  text: 'Bars: how often the recipient of a burn is named. Points: linked payments in percent against company, which is the number of burns that a mint hides among (the median of all mints). Batches are filled.',
  bars: {
    unit: '%',
    rows: scenarios.map((scenario) => ({
      label: scenario.name,
      value: percent(scenario.score.recipientNamed),
      isOurs: isBatch(scenario),
    })),
  },
  table: {
    head: ['', 'linked', 'mint named', 'recipient named'],
    rows: scenarios.map(({ name, score }) => [
      name,
      ...[score.linked, score.mintNamed, score.recipientNamed].map((share) => `${percent(share)} %`),
    ]),
  },
  points: {
    x: 'company',
    y: '% linked',
    at: scenarios.map((scenario) => ({
      label: scenario.name,
      x: scenario.score.company.median,
      y: percent(scenario.score.linked),
      isOurs: isBatch(scenario),
    })),
  },
})
