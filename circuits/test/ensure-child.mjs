// Builds the small circuits in its own process. Argument: FOLDER.
import { ensureDevelopment } from '../dist/artifacts/ensure-artifacts.js'
import { smallCircuits } from './small-circuits.mjs'

const folder = await ensureDevelopment({
  folder: process.argv[2],
  powBits: 0,
  batch: false,
  circuits: smallCircuits,
  onProgress: (line) => process.stdout.write(`${line}\n`),
})
process.stdout.write(`ready ${folder}\n`)
