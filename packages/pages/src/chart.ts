/** Bars, drawn by hand. What one says stands above it while it is pointed at; a reader of screens gets the label. */
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
  const drawn = all.map(({ value }, i) => {
    const height = value > 0 ? Math.max(tallMin, (value / largest) * tall) : 0
    return svg('rect', { x: i + gap / 2, y: tall - height, width: 1 - gap, height })
  })
  // As tall as the chart, so that the smallest bar can be pointed at.
  const places = Array.from({ length: wide }, (_, i) =>
    el('i', {}, all[i] && el('span', { class: 'says' }, all[i].says)),
  )
  return el(
    'div',
    { class: 'chart', role: 'img', 'aria-label': label },
    el('p', { class: 'scale' }, top),
    el(
      'div',
      { class: 'bars' },
      svg('svg', { viewBox: `0 0 ${wide} ${tall}`, preserveAspectRatio: 'none' }, ...lines, ...drawn),
      ...places,
    ),
    el('div', { class: 'axis' }, ...axis.map((text) => el('span', {}, text))),
  )
}
