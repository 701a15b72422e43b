import { createProgram } from '../../packages/facilitator/dist/command-line.js'
import { sectionsOf } from './help-pages.mjs'

/** docs/reference/command-line.md */
export function renderCommandLine() {
  const program = createProgram('', { check: none, start: none, config: none }, {})
  return `<!-- Generated from packages/facilitator/src/command-line.ts by \`npm run gen\`. Do not edit. -->

# Command line of the facilitator

\`check\` writes its findings to standard output, one a line: \`ok\`, \`warn\` or \`fail\`, the key, and the finding. \`start\`
writes the reason of a refusal to standard error, and its log, one JSON object a line, to standard output. Scripts can rely
on the exit codes: 1 is a mistake that somebody must correct; after 75 (\`EX_TEMPFAIL\`) another try may succeed.

${sectionsOf(program, 2, '').join('\n')}`
}

async function none() {}
