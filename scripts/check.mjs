// `npm run check` and `npm run format`: what a machine can say about the sources without running them. Installs the tools
// that a first `npm start` left out.
import { join } from 'node:path'
import { answerHelp } from './help.mjs'
import { root, run, setup } from './setup.mjs'

answerHelp(`Usage: npm run check     format and lint (Biome), types of sources and tests, unused code (knip)
       npm run format    writes what Biome can mend
`)

const tool = (name, ...args) => run(join(root, 'node_modules', '.bin', name), args)

const isFormat = process.argv.includes('--write')
await setup({ keys: false, tools: true, types: !isFormat })
if (isFormat) await tool('biome', 'check', '--write', '.')
else {
  await tool('biome', 'check', '--error-on-warnings', '.')
  await tool('tsc', '-p', 'tsconfig.tests.json')
  await tool('knip', '--no-progress')
}
