/** `npm run circuits`: builds the development artifacts that are missing and prints where they are. */
import { relative } from 'node:path'
import { parseArgs } from 'node:util'
import { defaultFolder, developmentPowBits, ensureArtifacts } from './artifacts/ensure-artifacts.js'

const usage = `npm run circuits -- [options]

Makes the development keys that are missing and prints their folder. Who makes such keys can forge proofs: never use
them elsewhere.

  --folder FOLDER   where they are, ${relative(process.cwd(), defaultFolder)} by default
  --pow-bits N      proof-of-work bits of burn addresses, ${developmentPowBits} by default
  --batch           also the keys of batch mints, half a minute more
  --quiet           prints progress alone
`

const { values } = parseArgs({
  options: {
    help: { type: 'boolean', short: 'h', default: false },
    folder: { type: 'string', default: defaultFolder },
    'pow-bits': { type: 'string', default: String(developmentPowBits) },
    batch: { type: 'boolean', default: false },
    quiet: { type: 'boolean', default: false },
  },
})
if (values.help) {
  process.stdout.write(usage)
  process.exit(0)
}
const powBits = Number(values['pow-bits'])
if (!/^\d{1,2}$/.test(values['pow-bits']) || powBits > 32) {
  process.stderr.write('--pow-bits is a number from 0 to 32\n')
  process.exit(1)
}
const folder = await ensureArtifacts({
  folder: values.folder,
  powBits,
  batch: values.batch,
  onProgress: (line) => process.stdout.write(`${line}\n`),
})
if (!values.quiet) process.stdout.write(`${folder}\n`)
