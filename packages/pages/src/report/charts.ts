/** Two charts: bars, and points against two scales, drawn for the width that they have. */
import { el } from '../dom.js'
import { svg } from '../svg.js'
import type { Bars, Points } from './report.js'

/** Letters keep their size, so a narrow chart has room for fewer of them. */
const narrow = 560

const rounded = (value: number) =>
  Math.abs(value) >= 100 ? value.toFixed(0) : `${Number(value.toPrecision(3))}`

const text = (x: number, y: number, words: string, attributes: Record<string, string> = {}) =>
  svg('text', { x, y, ...attributes }, words)
const line = (x1: number, y1: number, x2: number, y2: number, kind: string) =>
  svg('line', { x1, y1, x2, y2, class: kind })

export const barsChart = ({ rows, unit }: Bars, label: string): HTMLElement => {
  const most = Math.max(...rows.map(({ value }) => value)) || 1
  const drawn = rows.flatMap(({ label, value, isOurs }) => {
    const bar = el('i', { class: isOurs ? 'bar ours' : 'bar' })
    // The page's policy lets no style stand in an attribute.
    bar.style.width = `${(100 * value) / most}%`
    const number = el('span', { class: 'number' }, `${rounded(value)} ${unit}`)
    return [el('span', {}, label), el('span', { class: 'track' }, bar, number)]
  })
  const words = rows.map((row) => `${row.label} ${rounded(row.value)} ${unit}`).join(', ')
  return el('div', { class: 'bars', role: 'img', 'aria-label': `${label}: ${words}` }, ...drawn)
}

const plot = { left: 56, top: 52, bottom: 312 }
/** Room between the scale and the first point. */
const margin = 24
const dotRadius = 5
/** Places for a number beside its point, the nearest first. */
const places = [14, 24, 34, 44].flatMap((far) =>
  [-90, 0, 180, 90, -45, -135, 45, 135].map((degrees): [number, number] => [
    far * Math.cos((degrees * Math.PI) / 180),
    far * Math.sin((degrees * Math.PI) / 180),
  ]),
)

/** The first scale is logarithmic, the second one linear from 0 to 100. */
export function pointsChart({ at, x, y }: Points, label: string, width: number): SVGElement {
  const right = width - 20
  const most = Math.max(10, ...at.map((point) => point.x))
  const xOf = (value: number) =>
    plot.left + margin + ((right - plot.left - 2 * margin) * Math.log(Math.max(1, value))) / Math.log(most)
  const yOf = (value: number) => plot.bottom - ((plot.bottom - plot.top) * value) / 100
  const all = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].filter((tick) => tick <= most)
  const ticks = width < narrow ? all.filter((tick) => /^10*$/.test(`${tick}`)) : all
  const scales = [
    ...[0, 25, 50, 75, 100].flatMap((tick) => [
      line(plot.left, yOf(tick), right, yOf(tick), 'grid'),
      text(plot.left - 8, yOf(tick) + 5, `${tick}`, { 'text-anchor': 'end', class: 'number' }),
    ]),
    ...ticks.map((tick) =>
      text(xOf(tick), plot.bottom + 22, `${tick}`, { 'text-anchor': 'middle', class: 'number' }),
    ),
    text(right, plot.bottom + 46, `${x} →`, { 'text-anchor': 'end' }),
    text(plot.left, plot.top - 34, `↑ ${y}`),
  ]
  const dots = at.map((point): [number, number] => [xOf(point.x), yOf(point.y)])
  const taken = [...dots]
  const isFree = (cx: number, cy: number) =>
    cx > plot.left && cx < right && taken.every(([x, y]) => Math.hypot(x - cx, y - cy) > 13)
  // A point stands at its values, and its number where there is room.
  const points = at.flatMap((point, index) => {
    const [cx, cy] = dots[index] ?? [0, 0]
    const [dx, dy] = places.find(([dx, dy]) => isFree(cx + dx, cy + dy)) ?? [0, -14]
    taken.push([cx + dx, cy + dy])
    return [
      line(cx, cy, cx + 0.6 * dx, cy + 0.6 * dy, 'grid'),
      svg(
        'circle',
        { cx, cy, r: dotRadius, class: point.isOurs ? 'point ours' : 'point' },
        svg('title', {}, point.label),
      ),
      text(cx + dx, cy + dy + 4, `${index + 1}`, { 'text-anchor': 'middle', class: 'in' }),
    ]
  })
  const words = at.map((point) => `${point.label}: ${x} ${point.x}, ${y} ${point.y}`).join('; ')
  return svg(
    'svg',
    { viewBox: `0 0 ${width} ${plot.bottom + 56}`, role: 'img', 'aria-label': `${label}. ${words}` },
    ...scales,
    ...points,
  )
}
