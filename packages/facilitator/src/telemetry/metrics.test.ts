import { describe, expect, it } from 'vitest'
import { logEvents } from './events.js'
import { createMetrics } from './metrics.js'
import { series } from './series.js'

/** Parses the text format strictly: comments, then samples of the series that they announce. */
function parse(text: string): Map<string, number> {
  const samples = new Map<string, number>()
  let announced = ''
  for (const line of text.trimEnd().split('\n')) {
    const comment = /^# (?:HELP (\w+) \S.*|TYPE (\w+) (?:counter|gauge|histogram))$/.exec(line)
    if (comment) {
      announced = comment[1] ?? comment[2] ?? ''
      continue
    }
    const sample = /^((\w+?)(?:_bucket|_sum|_count)?(?:\{(?:\w+="(?:[^"\\\n]|\\.)*",?)+\})?) (\S+)$/.exec(
      line,
    )
    if (!sample?.[1]) throw new Error(`not a sample: ${line}`)
    expect(line.startsWith(announced)).toBe(true)
    expect(samples.has(sample[1])).toBe(false)
    samples.set(sample[1], Number(sample[3]))
  }
  return samples
}

describe('the metrics', () => {
  it('count every log event, from 0 on', async () => {
    const metrics = createMetrics()
    metrics.hear({ event: 'payment.accepted', challengeNonce: '0x1', txHash: '0x2', amount: 7n })
    metrics.hear({ event: 'payment.accepted', challengeNonce: '0x3', txHash: '0x4', amount: 5n })
    metrics.hear({ event: 'burn.late', challengeNonce: '0x1', txHash: '0x2' })
    metrics.hear({ event: 'facilitator.stopped' })
    const samples = parse(await metrics.render())
    expect(samples.get('svc_accepted_base_units_total')).toBe(12)
    const counts = Object.keys(logEvents).map((event) => samples.get(`svc_events_total{event="${event}"}`))
    const expected = { 'payment.accepted': 2, 'burn.late': 1, 'facilitator.stopped': 1 }
    expect(Object.fromEntries(Object.keys(logEvents).map((event, i) => [event, counts[i]]))).toEqual({
      ...Object.fromEntries(Object.keys(logEvents).map((event) => [event, 0])),
      ...expected,
    })
  })

  it('have counters without labels from the start, and others once they were counted', async () => {
    const samples = parse(await createMetrics().render())
    expect(samples.get('svc_rpc_failures_total')).toBe(0)
    expect([...samples.keys()].some((name) => name.startsWith('svc_refusals_total'))).toBe(false)
  })

  it('put each value into every bucket it fits', async () => {
    const metrics = createMetrics()
    for (const seconds of [0.001, 0.002, 0.02, 20, 21]) metrics.observe('svc_rpc_round_trip_seconds', seconds)
    const samples = parse(await metrics.render())
    const bucket = (le: string) => samples.get(`svc_rpc_round_trip_seconds_bucket{le="${le}"}`)
    expect(['0.001', '0.0025', '0.01', '0.025', '20', '+Inf'].map(bucket)).toEqual([1, 2, 2, 3, 4, 5])
    expect(samples.get('svc_rpc_round_trip_seconds_sum')).toBeCloseTo(41.023)
    expect(samples.get('svc_rpc_round_trip_seconds_count')).toBe(5)
  })

  it('take readings at each scrape, and leave out what is not known', async () => {
    const metrics = createMetrics()
    const waiting = [{ labels: { reason: 'queued' }, value: 2 }]
    const readings = { svc_relayer_balance_wei: 10n ** 18n, svc_mints_waiting: waiting }
    const samples = parse(await metrics.render(readings))
    expect(samples.get('svc_relayer_balance_wei')).toBe(1e18)
    expect(samples.get('svc_mints_waiting{reason="queued"}')).toBe(2)
    const later = parse(await metrics.render({ svc_relayer_balance_wei: undefined, svc_mints_waiting: [] }))
    expect([...later.keys()].filter((name) => /^svc_(?:relayer_balance|mints_waiting)/.test(name))).toEqual(
      [],
    )
  })

  it('tell nothing of an earlier scrape that this one does not know', async () => {
    const metrics = createMetrics()
    await metrics.render({ svc_ready: 1, svc_mints_owed_base_units: 7n })
    const samples = parse(await metrics.render({ svc_ready: 0 }))
    expect([samples.get('svc_ready'), samples.has('svc_mints_owed_base_units')]).toEqual([0, false])
  })

  it('ask sources at each scrape, and leave out what is not known', async () => {
    const metrics = createMetrics()
    let open: number | undefined = 3
    metrics.source('svc_stuck_transfers', () => open)
    expect(parse(await metrics.render()).get('svc_stuck_transfers')).toBe(3)
    open = undefined
    expect(parse(await metrics.render()).has('svc_stuck_transfers')).toBe(false)
  })

  it('escape label values', async () => {
    const metrics = createMetrics()
    metrics.count('svc_rpc_calls_total', { method: 'a"b\\c\nd' })
    expect(await metrics.render()).toContain('svc_rpc_calls_total{method="a\\"b\\\\c\\nd"} 1\n')
  })

  it('take only the labels of the table', () => {
    const metrics = createMetrics()
    expect(() => metrics.count('svc_rpc_calls_total')).toThrow(
      /svc_rpc_calls_total has the labels \[method\]/,
    )
    expect(() => metrics.count('svc_rpc_failures_total', { payer: '0x' })).toThrow(/has the labels \[\]/)
  })

  it('are named alike', () => {
    for (const name of Object.keys(series)) expect(name).toMatch(/^svc_[a-z_]+$/)
    for (const [name, { kind }] of Object.entries(series)) {
      expect(name.endsWith('_total'), name).toBe(kind === 'counter')
    }
  })
})
