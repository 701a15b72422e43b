/** Two charts, drawn for their file's width: bars with the spread of a run, and points against two scales. */
import { svg } from '../svg.js'
import type { Bars, Points } from './report.js'

const width = 720
const rowHeight = 34
const labelWidth = 250
const barWidth = 290

const rounded = (value: number) =>
  Math.abs(value) >= 100 ? value.toFixed(0) : `${Number(value.toPrecision(3))}`

const text = (x: number, y: number, words: string, attributes: Record<string, string> = {}) =>
  svg('text', { x, y, ...attributes }, words)
const line = (x1: number, y1: number, x2: number, y2: number, kind: string) =>
  svg('line', { x1, y1, x2, y2, class: kind })

const drawing = (height: number, label: string, ...children: Node[]) =>
  svg('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label }, ...children)

export function barsChart({ rows, unit, wanted }: Bars, label: string): SVGElement {
  const most = Math.max(wanted ?? 0, ...rows.flatMap(({ value, spread = [0, 0] }) => [value, ...spread]))
  const at = (value: number) => labelWidth + (barWidth * value) / (most || 1)
  const height = rows.length * rowHeight + (wanted === undefined ? 8 : 28)
  const bars = rows.flatMap(({ label, value, spread, isOurs }, index) => {
    const y = index * rowHeight
    const middle = y + rowHeight / 2
    const words = `${rounded(value)} ${unit}${spread ? ` (${rounded(spread[0])}–${rounded(spread[1])})` : ''}`
    return [
      text(labelWidth - 10, middle + 5, label, { 'text-anchor': 'end' }),
      svg('rect', {
        x: labelWidth,
        y: y + 7,
        width: Math.max(1, at(value) - labelWidth),
        height: rowHeight - 14,
        rx: 3,
        class: isOurs ? 'bar ours' : 'bar',
      }),
      ...(spread
        ? [
            line(at(spread[0]), middle, at(spread[1]), middle, 'spread'),
            line(at(spread[0]), middle - 5, at(spread[0]), middle + 5, 'spread'),
            line(at(spread[1]), middle - 5, at(spread[1]), middle + 5, 'spread'),
          ]
        : []),
      text(Math.max(at(value), spread ? at(spread[1]) : 0) + 8, middle + 5, words, { class: 'number' }),
    ]
  })
  const target =
    wanted === undefined
      ? []
      : [
          line(at(wanted), 0, at(wanted), height - 24, 'wanted'),
          text(at(wanted), height - 8, `wanted: ${wanted} ${unit}`, { 'text-anchor': 'middle' }),
        ]
  return drawing(
    height,
    `${label}: ${rows.map((row) => `${row.label} ${rounded(row.value)} ${unit}`).join(', ')}`,
    ...bars,
    ...target,
  )
}

const plot = { left: 56, right: width - 20, top: 40, bottom: 300 }
/** Room between the scale and the first point. */
const margin = 24

/** The first scale is logarithmic, the second one linear from 0 to 100. */
export function pointsChart({ at, x, y }: Points, label: string): SVGElement {
  const most = Math.max(10, ...at.map((point) => point.x))
  const xOf = (value: number) =>
    plot.left +
    margin +
    ((plot.right - plot.left - 2 * margin) * Math.log(Math.max(1, value))) / Math.log(most)
  const yOf = (value: number) => plot.bottom - ((plot.bottom - plot.top) * value) / 100
  const ticks = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].filter((tick) => tick <= most)
  const scales = [
    ...[0, 25, 50, 75, 100].flatMap((tick) => [
      line(plot.left, yOf(tick), plot.right, yOf(tick), 'grid'),
      text(plot.left - 8, yOf(tick) + 5, `${tick}`, { 'text-anchor': 'end', class: 'number' }),
    ]),
    ...ticks.map((tick) =>
      text(xOf(tick), plot.bottom + 22, `${tick}`, { 'text-anchor': 'middle', class: 'number' }),
    ),
    text(plot.right, plot.bottom + 46, `${x} →`, { 'text-anchor': 'end' }),
    text(plot.left, plot.top - 20, `↑ ${y}`),
  ]
  const placed: [number, number][] = []
  const points = at.flatMap((point, index) => {
    let cx = xOf(point.x)
    const cy = yOf(point.y)
    // Points that would cover each other stand side by side.
    while (placed.some(([x, y]) => Math.hypot(x - cx, y - cy) < 22)) cx += 4
    placed.push([cx, cy])
    return [
      svg(
        'circle',
        { cx, cy, r: 11, class: point.isOurs ? 'point ours' : 'point' },
        svg('title', {}, point.label),
      ),
      text(cx, cy + 5, `${index + 1}`, { 'text-anchor': 'middle', class: point.isOurs ? 'in ours' : 'in' }),
    ]
  })
  const words = at.map((point) => `${point.label}: ${x} ${point.x}, ${y} ${point.y}`).join('; ')
  return drawing(plot.bottom + 56, `${label}. ${words}`, ...scales, ...points)
}
