import { createProgram } from '../../packages/devnet/dist/command-line.js'
import { sectionsOf } from './help-pages.mjs'

/** docs/reference/svc-devnet.md */
export function renderDevnetCommandLine() {
  const program = createProgram(async () => undefined)
  return `<!-- Generated from packages/devnet/src/command-line.ts by \`npm run gen\`. Do not edit. -->

# Command line of the local network

\`npm run devnet -- OPTIONS\` starts the network alone; \`npm start -- OPTIONS\` also buys from its shop. Both write
\`.devnet/network.json\` for programs, and \`.devnet/env\` for a shell: \`set -a; . .devnet/env; set +a\`.

${sectionsOf(program, 2, '').join('\n')}`
}
