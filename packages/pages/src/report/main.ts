/** Draws the report that stands in this file. */
import { el } from '../dom.js'
import { barsChart, pointsChart } from './charts.js'
import type { Report, Section, Table } from './report.js'

addEventListener('DOMContentLoaded', () => {
  const { title, lead, sections } = JSON.parse(document.getElementById('report')?.textContent ?? '') as Report
  document.title = title
  document.body.append(
    el('main', {}, el('header', {}, el('h1', {}, title), el('p', {}, lead)), ...sections.map(sectionOf)),
  )
})

/** A chart is as wide as its page, up to what one looks over at once. 66 is what stands left and right of it on a telephone. */
const widthHere = () => Math.max(260, Math.min(720, document.documentElement.clientWidth - 66))

const sectionOf = ({ heading, text, bars, points, table }: Section) =>
  el(
    'section',
    {},
    el('h2', {}, heading),
    el('p', { class: 'quiet' }, text),
    bars && el('figure', {}, barsChart(bars, heading)),
    points && el('figure', {}, pointsChart(points, heading, widthHere())),
    points &&
      tableOf({ head: ['', points.x, points.y, ''], rows: points.at.map(pointRow) }, `Points: ${heading}`),
    table && tableOf(table, `Figures: ${heading}`),
  )

const pointRow = ({ label, x, y }: { label: string; x: number; y: number }, index: number) => [
  `${index + 1}`,
  `${x}`,
  y.toFixed(1),
  label,
]

const tableOf = ({ head, rows }: Table, name: string) =>
  el(
    'div',
    { class: 'wide', tabindex: '0', role: 'region', 'aria-label': name },
    el(
      'table',
      {},
      el('thead', {}, el('tr', {}, ...head.map((title) => el(title ? 'th' : 'td', {}, title)))),
      el('tbody', {}, ...rows.map((row) => el('tr', {}, ...row.map((cell) => el('td', {}, cell))))),
    ),
  )
