// `npm run gen` writes every generated file; `node scripts/gen.mjs --check` writes nothing and exits 1 when
// one has drifted from its source. `--into <folder>` works on a copy of the tree instead.
//
// To add a file: a function that returns its whole text, and one line in the list below.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { renderCommandLine, renderDevnetCommandLine, renderPayCommandLine } from './gen/command-lines.mjs'
import { renderConfigReference, renderSampleConfig } from './gen/config.mjs'
import { renderConformance } from './gen/conformance.mjs'
import { renderEnvironment } from './gen/environment.mjs'
import { renderErrors } from './gen/errors.mjs'
import { renderLogEvents } from './gen/log-events.mjs'
import { renderMetrics } from './gen/metrics.mjs'
import { renderPayerEnvironment } from './gen/payer-environment.mjs'
import { renderReasons } from './gen/reasons.mjs'
import { renderAdminApi, renderHistoryApi } from './gen/surfaces.mjs'
import { renderAmounts } from './gen/vectors/amounts.mjs'
import { renderHeaders } from './gen/vectors/headers.mjs'
import { renderMatching } from './gen/vectors/matching.mjs'
import { renderNetworks } from './gen/vectors/networks.mjs'
import { renderPayloads } from './gen/vectors/payloads.mjs'
import {
  renderPaymentStatement,
  renderReceipt,
  renderRevocations,
  renderTrustAnchor,
} from './gen/vectors/statements.mjs'
import { renderTypedData } from './gen/vectors/typed-data.mjs'
import { answerHelp } from './help.mjs'
import { root } from './setup.mjs'

answerHelp(`Usage: npm run gen -- [--check] [--into FOLDER]

Writes every generated document and vector. With --check it writes nothing, and exits with 1 when one has drifted.
`)

const generated = [
  { path: 'docs/reference/admin-api.md', render: renderAdminApi },
  { path: 'docs/reference/history-api.md', render: renderHistoryApi },
  { path: 'docs/reference/command-line.md', render: renderCommandLine },
  { path: 'docs/reference/config.md', render: renderConfigReference },
  { path: 'docs/reference/conformance.md', render: renderConformance },
  { path: 'docs/reference/environment.md', render: renderEnvironment },
  { path: 'docs/reference/errors.md', render: renderErrors },
  { path: 'docs/reference/log-events.md', render: renderLogEvents },
  // The sample config in the package, for operators without this repository.
  { path: 'packages/facilitator/facilitator.sample.toml', render: renderSampleConfig },
  { path: 'docs/reference/metrics.md', render: renderMetrics },
  { path: 'docs/reference/payer-environment.md', render: renderPayerEnvironment },
  { path: 'docs/reference/svc-devnet.md', render: renderDevnetCommandLine },
  { path: 'docs/reference/svc-pay.md', render: renderPayCommandLine },
  { path: 'docs/reference/reasons.md', render: renderReasons },
  { path: 'test/vectors/statement/payment.json', render: renderPaymentStatement },
  { path: 'test/vectors/statement/receipt.json', render: renderReceipt },
  { path: 'test/vectors/statement/revocations-later.jws', render: renderRevocations },
  { path: 'test/vectors/statement/trust-anchor.json', render: renderTrustAnchor },
  { path: 'test/vectors/protocol/amounts.json', render: renderAmounts },
  { path: 'test/vectors/protocol/headers.json', render: renderHeaders },
  { path: 'test/vectors/protocol/matching.json', render: renderMatching },
  { path: 'test/vectors/protocol/networks.json', render: renderNetworks },
  { path: 'test/vectors/protocol/payloads.json', render: renderPayloads },
  { path: 'test/vectors/protocol/typed-data.json', render: renderTypedData },
]

const { values } = parseArgs({
  options: { check: { type: 'boolean', default: false }, into: { type: 'string', default: root } },
})

let drifted = 0
for (const { path, render } of generated) {
  const file = join(values.into, path)
  const text = await render()
  if (text === readIfPresent(file)) continue
  drifted++
  process.stdout.write(`${values.check ? 'drifted' : 'wrote'} ${path}\n`)
  if (!values.check) {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
}
if (values.check && drifted > 0) {
  process.stderr.write('Run `npm run gen` and commit what it writes.\n')
  process.exitCode = 1
}

function readIfPresent(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (error.code === 'ENOENT') return undefined
    throw error
  }
}
