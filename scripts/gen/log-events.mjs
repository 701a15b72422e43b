import { logEvents } from '../../packages/facilitator/dist/telemetry/events.js'

const row = (cells) => `| ${cells.join(' | ')} |`

/** docs/reference/log-events.md */
export function renderLogEvents() {
  const rows = Object.entries(logEvents).map(([event, { level, about, fields }]) => {
    const list = Object.entries(fields).map(([field, meaning]) => `\`${field}\`: ${meaning}`)
    return row([`\`${event}\``, level, about, list.join('<br>') || '–'])
  })
  return `<!-- Generated from packages/facilitator/src/telemetry/events.ts and payment/report.ts by \`npm run gen\`. Do not edit. -->

# Log events

The daemon writes one JSON object a line to standard output. Each has \`time\` (ISO 8601, UTC), \`level\` (30 info,
40 warn, 50 error), \`event\` and the fields of that event. Numbers that may be large are decimal strings. \`err\` has the
message, the stack and the causes. No event contains a key, token, signature or body, and URLs are written without
credentials.

Each turn of a payment and each outside failure is one line. [Metrics](metrics.md) count the same events.

| event | level | meaning | fields |
|---|---|---|---|
${rows.join('\n')}
`
}
