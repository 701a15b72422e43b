/** Bars, drawn by hand. What they say is in their title, and in words for those who do not see them. */
import { svg } from './svg.js'

export type Bar = { readonly name: string; readonly value: number; readonly says: string }

const [width, height, foot] = [440, 130, 20]
/** Few bars stand at the left, as slim as many. */
const barMax = 28

/** `top` is the text at the height of the largest bar. */
export function bars(label: string, all: readonly Bar[], top: string): Element {
  const largest = Math.max(...all.map(({ value }) => value), 0)
  const step = Math.min(barMax, width / all.length)
  const room = height - foot
  const every = Math.max(1, Math.ceil(all.length / 4), Math.ceil(60 / step))
  const drawn = all.flatMap(({ name, value, says }, i) => {
    const tall = largest === 0 ? 0 : Math.max(value > 0 ? 2 : 0, (value / largest) * (room - 18))
    const x = i * step
    const bar = svg('rect', {
      class: 'bar',
      x: x + 1,
      y: room - tall,
      width: Math.max(1, step - 2),
      height: tall,
      rx: 1.5,
    })
    // As tall as the chart, so that the smallest bar can be pointed at.
    const touch = svg('rect', { class: 'touch', x, y: 0, width: step, height: room }, svg('title', {}, says))
    const isNamed = i % every === 0 && x + 50 < width
    return [bar, touch, ...(isNamed ? [svg('text', { x: x + 1, y: height - 5 }, name)] : [])]
  })
  return svg(
    'svg',
    { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label, class: 'chart' },
    svg('line', { x1: 0, x2: width, y1: room, y2: room }),
    svg('text', { x: width, y: 11, 'text-anchor': 'end' }, top),
    ...drawn,
  )
}
