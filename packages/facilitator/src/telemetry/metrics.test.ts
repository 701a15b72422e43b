import { describe, expect, it } from 'vitest'
import { createMetrics } from './metrics.js'
import { eventCounters, series } from './series.js'

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
  it('count what pairs with a log event', async () => {
    const metrics = createMetrics()
    metrics.hear({ event: 'payment.accepted', challengeNonce: '0x1', txHash: '0x2' })
    metrics.hear({ event: 'payment.accepted', challengeNonce: '0x3', txHash: '0x4' })
    metrics.hear({ event: 'burn.late', challengeNonce: '0x1', txHash: '0x2' })
    metrics.hear({ event: 'facilitator.stopped' })
    const samples = parse(await metrics.render())
    expect(samples.get('svc_payments_total{phase="accepted"}')).toBe(2)
    expect(samples.get('svc_burns_total{outcome="late"}')).toBe(1)
  })

  it('have counters without labels from the start, and others once they were counted', async () => {
    const samples = parse(await createMetrics().render())
    expect(samples.get('svc_challenges_issued_total')).toBe(0)
    expect([...samples.keys()].some((name) => name.startsWith('svc_refusals_total'))).toBe(false)
  })

  it('put each value into every bucket it fits', async () => {
    const metrics = createMetrics()
    for (const burns of [1, 2, 7, 50, 51]) metrics.observe('svc_burns_per_batch', burns)
    const samples = parse(await metrics.render())
    const bucket = (le: string) => samples.get(`svc_burns_per_batch_bucket{le="${le}"}`)
    expect(['1', '2', '5', '10', '50', '+Inf'].map(bucket)).toEqual([1, 2, 2, 3, 4, 5])
    expect(samples.get('svc_burns_per_batch_sum')).toBe(111)
    expect(samples.get('svc_burns_per_batch_count')).toBe(5)
  })

  it('ask sources at each scrape, and leave out what is not known', async () => {
    const metrics = createMetrics()
    let open: number | undefined = 3
    metrics.source('svc_challenges_open', () => open)
    expect(parse(await metrics.render()).get('svc_challenges_open')).toBe(3)
    open = undefined
    expect(parse(await metrics.render()).has('svc_challenges_open')).toBe(false)
  })

  it('escape label values', async () => {
    const metrics = createMetrics()
    metrics.count('svc_rpc_calls_total', { method: 'a"b\\c\nd' })
    expect(await metrics.render()).toContain('svc_rpc_calls_total{method="a\\"b\\\\c\\nd"} 1\n')
  })

  it('take only the labels of the table', () => {
    const metrics = createMetrics()
    expect(() => metrics.count('svc_payments_total')).toThrow(/svc_payments_total has the labels \[phase\]/)
    expect(() => metrics.count('svc_challenges_issued_total', { payer: '0x' })).toThrow(/has the labels \[\]/)
  })

  it('are named alike, and every label of a paired event is in its series', () => {
    for (const name of Object.keys(series)) expect(name).toMatch(/^svc_[a-z_]+$/)
    for (const [name, { kind }] of Object.entries(series)) {
      expect(name.endsWith('_total'), name).toBe(kind === 'counter')
    }
    for (const { name, labels = {} } of Object.values(eventCounters)) {
      expect(Object.keys(labels)).toEqual(series[name].labels)
    }
  })
})
