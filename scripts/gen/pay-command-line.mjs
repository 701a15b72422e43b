import { createProgram } from '../../packages/payer/dist/command/program.js'
import { tools } from '../../packages/payer/dist/mcp/tools.js'
import { sectionsOf } from './help-pages.mjs'

/** docs/reference/svc-pay.md */
export function renderPayCommandLine() {
  const nowhere = { write: () => true }
  const io = { stdout: nowhere, stderr: nowhere, terminal: undefined, isColoured: false }
  const program = createProgram({ version: '', environment: {}, io, stdin: nowhere, end: () => undefined })
  return `<!-- Generated from packages/payer/src/command/program.ts by \`npm run gen\`. Do not edit. -->

# Command line of the payer

Answers go to standard output, everything else to standard error. With \`--json\` every command but \`mcp\` prints one object:
\`ok\`, \`command\`, \`exitCode\`, \`warnings\`, and \`result\` or \`error\`. An error has a stable \`code\`, a \`message\`, advice
in \`todo\`, and the \`rule\` that refused with its limit. The environment is in
[its own page](payer-environment.md).

${sectionsOf(program, 2, '').join('\n')}
## Tools of svc-pay mcp

Other arguments are refused. A client asks the server for the schemas.

| tool | arguments | what it does |
|---|---|---|
${Object.entries(tools).map(toolRow).join('\n')}
`
}

function toolRow([name, { description, inputSchema }]) {
  const names = Object.entries(inputSchema.shape).map(([each, schema]) =>
    schema.isOptional() ? `[\`${each}\`]` : `\`${each}\``,
  )
  return `| \`${name}\` | ${names.join(' ') || 'none'} | ${description} |`
}
