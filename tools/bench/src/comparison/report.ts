/** The figures of a run as a page with charts: ratios with the spread of the rounds, and what they are made of. */
import { pageOf } from '#report'
import { buyingRatio, type Purchases } from './buying.js'
import type { ContestantName } from './contestants.js'
import { percentile } from './figures.js'
import type { Cell, Step } from './measure.js'
import { type AllFigures, columns, rowsOf } from './table.js'
import { type Target, wantedRatio } from './verdict.js'

export type CellsOf = Readonly<Record<ContestantName, { readonly cells: readonly Cell[] }>>

export function benchPage(run: {
  readonly about: string
  readonly records: CellsOf
  readonly figures: AllFigures
  readonly purchases: Purchases
  readonly targets: readonly Target[]
}): string {
  const { figures, records, purchases } = run
  const ratioRows = (step: Step) =>
    figures.ours[step].map(({ concurrency, perSecond }) => {
      const tuned = figures.tuned[step].find((cell) => cell.concurrency === concurrency)
      return {
        label: `${step}, ${concurrency} at a time`,
        value: perSecond / (tuned?.perSecond ?? Number.NaN),
        ...spreadOf(step, concurrency, records),
        isOurs: true,
      }
    })
  const rateRows = (step: Step) =>
    figures.ours[step].flatMap(({ concurrency }) =>
      columns.flatMap(({ name, title }) => {
        const cell = figures[name][step].find((each) => each.concurrency === concurrency)
        if (cell === undefined) return []
        return [{ label: `${concurrency}: ${title}`, value: cell.perSecond, isOurs: name === 'ours' }]
      }),
    )
  return pageOf({
    title: 'svc-zerc20 beside the official reference',
    lead: `${run.about} Machines are noisy: only ratios of one run count, never figures of two.`,
    sections: [
      {
        heading: 'How many times as many payments a second',
        text: 'Ours divided by the tuned reference. The thin line is the spread: the least and the most of the rounds.',
        bars: {
          unit: '×',
          wanted: wantedRatio.settle,
          rows: [...ratioRows('verify'), ...ratioRows('settle')],
        },
      },
      {
        heading: 'Verified a second',
        text: 'Valid answers, with 1 and more requests under way.',
        bars: { unit: '/s', rows: rateRows('verify') },
      },
      {
        heading: 'Accepted a second',
        text: 'With 1 and more requests under way. A settle waits for its block, so n at a time are at most about n a second.',
        bars: { unit: '/s', rows: rateRows('settle') },
      },
      {
        heading: 'One purchase, start of the program included',
        text: `The middle of all, from the least to the most. On average ours takes ${buyingRatio(purchases).toFixed(2)} times as long.`,
        bars: {
          unit: 'ms',
          rows: [
            { label: 'svc-pay pay', isOurs: true, ...middleOf(purchases.svcPay) },
            { label: 'a script with @x402/fetch, exact', ...middleOf(purchases.official) },
          ],
        },
      },
      {
        heading: 'What was wanted',
        text: 'A target without a verdict was not measured long enough.',
        table: {
          head: ['target', 'reached', 'verdict'],
          rows: run.targets.map(({ name, reached, met }) => [
            name,
            reached,
            met === undefined ? 'not judged' : met ? 'reached' : 'missed',
          ]),
        },
      },
      {
        heading: 'All figures',
        text: 'As in the terminal.',
        table: {
          head: ['row', ...columns.map(({ title }) => title), 'ours ÷ tuned'],
          rows: rowsOf(figures).map(({ title, cells, ratio }) => [title, ...cells, ratio]),
        },
      },
    ],
  })
}

const middleOf = (valuesMs: readonly number[]) => ({
  value: percentile(valuesMs, 0.5),
  spread: [Math.min(...valuesMs), Math.max(...valuesMs)] as const,
})

/** The ratios of single rounds. The contestants are measured by turns, so the n-th cells belong to one round. */
export function spreadOf(
  step: Step,
  concurrency: number,
  records: CellsOf,
): { readonly spread?: readonly [number, number] } {
  const rates = (name: ContestantName) =>
    records[name].cells
      .filter((cell) => cell.step === step && cell.concurrency === concurrency)
      .map(({ succeeded, seconds }) => succeeded / seconds)
  const tuned = rates('tuned')
  const ratios = rates('ours')
    .map((rate, round) => rate / (tuned[round] ?? Number.NaN))
    .filter(Number.isFinite)
  return ratios.length > 1 ? { spread: [Math.min(...ratios), Math.max(...ratios)] } : {}
}
