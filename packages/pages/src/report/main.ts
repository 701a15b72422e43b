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

const sectionOf = ({ heading, text, bars, points, table }: Section) =>
  el(
    'section',
    {},
    el('h2', {}, heading),
    el('p', { class: 'quiet' }, text),
    bars && el('figure', { tabindex: '0' }, barsChart(bars, heading)),
    points && el('figure', { tabindex: '0' }, pointsChart(points, heading)),
    points && tableOf({ head: ['', points.x, points.y, ''], rows: points.at.map(pointRow) }, heading),
    table && tableOf(table, heading),
  )

const pointRow = ({ label, x, y }: { label: string; x: number; y: number }, index: number) => [
  `${index + 1}`,
  `${x}`,
  y.toFixed(1),
  label,
]

const tableOf = ({ head, rows }: Table, heading: string) =>
  el(
    'div',
    { class: 'wide', tabindex: '0', role: 'region', 'aria-label': `Figures: ${heading}` },
    el(
      'table',
      {},
      el('thead', {}, el('tr', {}, ...head.map((name) => el(name ? 'th' : 'td', {}, name)))),
      el('tbody', {}, ...rows.map((row) => el('tr', {}, ...row.map((cell) => el('td', {}, cell))))),
    ),
  )
