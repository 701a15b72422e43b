/** `npm run circuits`: builds the development artifacts that are missing and prints where they are. */
import { parseArgs } from 'node:util'
import { defaultFolder, developmentPowBits, ensureArtifacts } from './artifacts/ensure-artifacts.js'

const { values } = parseArgs({
  options: {
    folder: { type: 'string', default: defaultFolder },
    'pow-bits': { type: 'string', default: String(developmentPowBits) },
    batch: { type: 'boolean', default: false },
    quiet: { type: 'boolean', default: false },
  },
})
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
