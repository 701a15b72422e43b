/** Bars, drawn by hand. What they say is in their title, and in words for those who do not see them. */
import { el } from './dom.js'
import { svg } from './svg.js'

export type Bar = { readonly value: number; readonly says: string }

/** Few bars stand at the left, as slim as many. */
const barsMin = 24
const [gap, tall] = [0.18, 100]
/** So that a small value is seen beside a large one. */
const tallMin = 2

/**
 * `top` is the text at the height of the largest bar. Those of the axis stand at even distances from the left, two of
 * them at both ends. Only the bars stretch with the page, so that the texts stay as large as all others.
 */
export function bars(
  label: string,
  all: readonly Bar[],
  { top, axis }: { readonly top: string; readonly axis: readonly string[] },
): Element {
  const largest = Math.max(...all.map(({ value }) => value), 0)
  const wide = Math.max(all.length, barsMin)
  const lines = [0, tall / 2, tall].map((y) => svg('line', { x1: 0, x2: wide, y1: y, y2: y }))
  const drawn = all.flatMap(({ value, says }, i) => {
    const height = value > 0 ? Math.max(tallMin, (value / largest) * tall) : 0
    return [
      svg('rect', { class: 'bar', x: i + gap / 2, y: tall - height, width: 1 - gap, height }),
      // As tall as the chart, so that the smallest bar can be pointed at.
      svg('rect', { class: 'touch', x: i, y: 0, width: 1, height: tall }, svg('title', {}, says)),
    ]
  })
  return el(
    'div',
    { class: 'chart', role: 'img', 'aria-label': label },
    el('p', { class: 'scale' }, top),
    svg('svg', { viewBox: `0 0 ${wide} ${tall}`, preserveAspectRatio: 'none' }, ...lines, ...drawn),
    el('div', { class: 'axis' }, ...axis.map((text) => el('span', {}, text))),
  )
}
