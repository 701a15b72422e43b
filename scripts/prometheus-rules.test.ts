/**
 * The rules that Prometheus loads. Its own checker is not installed with this repository, so the file is read here by the
 * grammar of PromQL, as far as the rules use it, and strictly: what this test does not know, it refuses.
 */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { purposes } from '../packages/facilitator/src/payment/records.js'
import { waitReasons } from '../packages/facilitator/src/payment/waits.js'
import { activeLease } from '../packages/facilitator/src/start/keep-leased-side.js'
import { logEvents } from '../packages/facilitator/src/telemetry/events.js'
import { type Series, series } from '../packages/facilitator/src/telemetry/series.js'

type Rule = {
  alert: string
  expr: string
  for?: string
  labels?: object
  annotations?: Record<string, string>
}
type RuleFile = { groups: { name: string; rules: Rule[] }[] }

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')
const file = parse(read('deploy/prometheus-rules.yaml'), { strict: true, uniqueKeys: true }) as RuleFile
const rules = file.groups.flatMap((group) => group.rules)

const duration = /^(?:\d+(?:ms|[smhdwy]))+$/
/** What Prometheus gives to every series, and the one that it makes itself. */
const targetLabels = ['instance', 'job']
const table: Readonly<Record<string, Series>> = { ...series, up: { kind: 'gauge', help: '', labels: [] } }

/** The values that labels can have, where they are known. */
const valuesOf: Readonly<Record<string, readonly string[]>> = {
  'svc_events_total event': Object.keys(logEvents),
  'svc_mints_waiting reason': Object.keys(waitReasons),
  'svc_relayer_spent_wei_total purpose': purposes,
  'svc_lease_held lease': [activeLease],
}

function seriesNamed(name: string): { labels: readonly string[]; known: string } {
  const known = name.replace(/_bucket$/, '')
  const found = table[known]
  if (!found || (known !== name && found.kind !== 'histogram')) throw new Error(`no series ${name}`)
  return { labels: [...found.labels, ...targetLabels, ...(known === name ? [] : ['le'])], known }
}

const vectorFunctions = new Set(['abs', 'sum', 'min', 'max'])
const rangeFunctions = new Set(['increase', 'rate', 'changes'])
const operators = [['or'], ['and', 'unless'], ['==', '!=', '<=', '<', '>=', '>'], ['+', '-'], ['*', '/']]

/** Reads an expression whole and gives the selectors in it, or throws. */
function selectorsIn(text: string): string[] {
  const tokens =
    text.match(
      /"(?:[^"\\]|\\.)*"|=~|!~|[!=<>]=|[-+*/(){}[\],<>=]|\d+(?:ms|[smhdwy])|\d+(?:\.\d+)?(?:e\d+)?|[a-zA-Z_:][\w:]*/g,
    ) ?? []
  if (tokens.join('') !== text.replaceAll(/\s/g, '')) throw new Error(`characters that no token has: ${text}`)
  const selectors: string[] = []
  let at = 0
  const next = () => tokens[at]
  const take = (wanted?: string | RegExp): string => {
    const token = tokens[at]
    const isWanted = wanted instanceof RegExp ? wanted.test(token ?? '') : !wanted || wanted === token
    if (token === undefined || !isWanted) throw new Error(`${wanted} expected, not ${token}: ${text}`)
    at += 1
    return token
  }
  const word = /^[a-zA-Z_:][\w:]*$/

  function names(): string[] {
    take('(')
    const found = [take(word)]
    while (next() === ',') {
      take(',')
      found.push(take(word))
    }
    take(')')
    return found
  }

  function binary(level: number): void {
    const ofLevel = operators[level]
    if (!ofLevel) {
      unary()
      return
    }
    binary(level + 1)
    while (ofLevel.includes(next() ?? '')) {
      take()
      if (next() === 'on' || next() === 'ignoring') {
        take()
        names()
      }
      binary(level + 1)
    }
  }

  function unary(): void {
    const token = next() ?? ''
    if (token === '(') {
      take('(')
      binary(0)
      take(')')
    } else if (/^\d/.test(token)) take(/^\d+(?:\.\d+)?(?:e\d+)?$/)
    else if (token === 'histogram_quantile') {
      take()
      take('(')
      take(/^0\.\d+$/)
      take(',')
      binary(0)
      take(')')
    } else if (vectorFunctions.has(token) && tokens[at + 1] !== '{') {
      take()
      if (next() === 'by' || next() === 'without') {
        take()
        names()
      }
      take('(')
      binary(0)
      take(')')
    } else if (rangeFunctions.has(token)) {
      take()
      take('(')
      selector(true)
      take(')')
    } else selector(false)
  }

  function selector(isRange: boolean): void {
    const name = take(word)
    const { labels, known } = seriesNamed(name)
    selectors.push(name)
    if (next() === '{') {
      take('{')
      while (next() !== '}') {
        const label = take(word)
        if (!labels.includes(label)) throw new Error(`${name} has no label ${label}`)
        const operator = take(/^(?:=|!=|=~|!~)$/)
        const value = JSON.parse(take(/^"/)) as string
        const values = valuesOf[`${known} ${label}`] ?? [value]
        const wanted = operator.endsWith('~') ? alternatives(value) : [value]
        for (const one of wanted) if (!values.includes(one)) throw new Error(`${name} has no ${label} ${one}`)
        if (next() !== '}') take(',')
      }
      take('}')
    }
    if (!isRange) return
    take('[')
    take(duration)
    take(']')
  }

  binary(0)
  if (at !== tokens.length) throw new Error(`${tokens.slice(at).join(' ')} is too much: ${text}`)
  return selectors
}

/** The words that `a.(b|c)` or `b|c` match. */
function alternatives(pattern: string): string[] {
  const [, before = '', inner = pattern] = /^([\w.]*)\(([\w|]+)\)$/.exec(pattern) ?? []
  return inner.split('|').map((word) => `${before}${word}`)
}

it('have the shape that Prometheus loads, and no key that it does not know', () => {
  expect(Object.keys(file)).toEqual(['groups'])
  for (const group of file.groups) expect(Object.keys(group).sort()).toEqual(['name', 'rules'])
  for (const { alert, expr, for: lasting = '1m', labels, annotations, ...more } of rules) {
    expect([alert, more]).toEqual([expect.stringMatching(/^[A-Z][A-Za-z]+$/), {}])
    expect(lasting).toMatch(duration)
    expect(labels).toEqual({ severity: expect.stringMatching(/^(?:critical|warning)$/) })
    expect(Object.keys(annotations ?? {})).toEqual(['summary'])
    const placeholders = (annotations?.summary ?? '').match(/\{\{.*?\}\}/g) ?? []
    for (const placeholder of placeholders) {
      expect(placeholder).toMatch(/^\{\{ \$(?:value|labels\.\w+)(?: \| humanize(?:Duration|1024)?)? \}\}$/)
    }
    expect(selectorsIn(expr), alert).not.toEqual([])
  }
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length)
})

it.each([
  ['svc_ready = 0', /too much|expected/],
  ['svc_reddy == 0', /no series svc_reddy/],
  ['increase(svc_ready) > 0', /\[ expected/],
  ['svc_mints_waiting{reason="rot_behind"} > 0', /has no reason rot_behind/],
  ['svc_mints_waiting{cause="off"} > 0', /has no label cause/],
  ['sum(svc_ready > 0', /\) expected/],
  ['svc_ready == 0 0', /too much/],
  ['rate(svc_rpc_failures_total[5 m]) > 1', /expected/],
])('this test is strict: it refuses %s', (expr, why) => {
  expect(() => selectorsIn(expr)).toThrow(why)
})

it('are in the guide, all of them, each with what to do', () => {
  const [, section = ''] = read('docs/guides/operate.md').split('| alert | when | what to do |')
  const told = section.split('\n\n')[0]?.match(/`[A-Z][A-Za-z]+`/g) ?? []
  expect(told.map((name) => name.slice(1, -1)).sort()).toEqual(rules.map(({ alert }) => alert).sort())
})

it('tell a daemon that is gone, one that is not ready, several that all stand by, and money that another facilitator may take', () => {
  const exprOf = (name: string) => rules.find(({ alert }) => alert === name)?.expr
  expect(exprOf('FacilitatorDown')).toBe('up{job="svc-facilitator"} == 0')
  expect(exprOf('FacilitatorNotReady')).toBe('svc_ready == 0')
  // A daemon that stands by is ready to, so this one looks at the lease.
  expect(exprOf('NobodyActive')).toBe('sum(svc_lease_held{lease="active"}) == 0')
  expect(exprOf('RecordsMissing')).toContain('records_missing')
  expect(exprOf('ForeignMint')).toContain('foreign_mint')
})

it('tell an account that has less gas than two days took, whether one account sends or two', () => {
  const expr = rules.find(({ alert }) => alert === 'GasLow')?.expr ?? ''
  expect(selectorsIn(expr)).toEqual([
    'svc_relayer_balance_wei',
    'svc_relayer_spent_wei_total',
    'svc_minter_balance_wei',
    'svc_relayer_spent_wei_total',
    'svc_relayer_balance_wei',
    'svc_minter_balance_wei',
    'svc_relayer_spent_wei_total',
  ])
  expect(expr.match(/purpose=~?"[^"]+"/g)).toEqual([
    'purpose="burn"',
    'purpose=~"mint|distribution"',
    'purpose=~"burn|mint|distribution"',
  ])
  expect(expr.match(/increase\([^)]*\[1d\]\)/g)).toHaveLength(3)
})

it('do not take the growth of a term, which is no count, for so many takeovers', () => {
  for (const { expr } of rules) expect(expr).not.toMatch(/(?:increase|rate)\(svc_lease_term/)
})
