import { series } from '../../packages/facilitator/dist/telemetry/series.js'

const row = (cells) => `| ${cells.join(' | ')} |`
const code = (text) => `\`${text}\``

/** docs/reference/metrics.md */
export function renderMetrics() {
  const rows = Object.entries(series).map(([name, { kind, labels, help }]) =>
    row([code(name), kind, labels.map(code).join(', ') || '–', help]),
  )
  return `<!-- Generated from packages/facilitator/src/telemetry/series.ts by \`npm run gen\`. Do not edit. -->

# Metrics

\`GET /admin/metrics\` with the bearer token gives every series in the Prometheus text format. Counters start at zero with
the process. \`endpoint\` is a path pattern such as \`/payments/:challengeNonce\`, or \`unknown\` for any other path, so that
callers cannot create new series. \`reason\` of a refusal is a code of the [reasons](reasons.md). \`event\` is one of the
[log events](log-events.md): each turn of a payment and each failure is one event and one count.

\`\`\`yaml
scrape_configs:
  - job_name: svc-facilitator
    metrics_path: /admin/metrics
    authorization: { credentials_file: /etc/prometheus/svc-admin-token }
    static_configs: [{ targets: ['127.0.0.1:4032'] }]
\`\`\`

| series | kind | labels | meaning |
|---|---|---|---|
${rows.join('\n')}
`
}
