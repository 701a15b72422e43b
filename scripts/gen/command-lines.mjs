import { createProgram as createDevnet } from '../../packages/devnet/dist/command-line.js'
import { createProgram as createFacilitator } from '../../packages/facilitator/dist/command-line.js'
import { createProgram as createPayer } from '../../packages/payer/dist/command/program.js'
import { tools } from '../../packages/payer/dist/mcp/tools.js'

const columns = 100

/** The help text that a command prints. */
function helpOf(command) {
  let text = ''
  command.configureOutput({
    writeOut: (part) => {
      text += part
    },
    getOutHelpWidth: () => columns,
    getOutHasColors: () => false,
  })
  command.outputHelp()
  return text.trimEnd()
}

/** One section for a command and for each command in it. */
function sectionsOf(command, depth, prefix) {
  const name = `${prefix}${command.name()}`
  const section = `${'#'.repeat(depth)} \`${name}\`\n\n\`\`\`text\n${helpOf(command)}\n\`\`\`\n`
  return [section, ...command.commands.flatMap((inner) => sectionsOf(inner, 3, `${name} `))]
}

/** docs/reference/command-line.md */
export function renderCommandLine() {
  const program = createFacilitator('', { env: {} })
  return `<!-- Generated from packages/facilitator/src/command-line.ts by \`npm run gen\`. Do not edit. -->

# Command line of the facilitator

\`check\` writes its findings to standard output, one a line: \`ok\`, \`warn\` or \`fail\`, the key, and the finding. \`start\`
writes the reason of a refusal to standard error, and its log, one JSON object a line, to standard output. Scripts can rely
on the exit codes: 1 is a mistake that somebody must correct; after 75 (\`EX_TEMPFAIL\`) another try may succeed.

${sectionsOf(program, 2, '').join('\n')}`
}

async function none() {}

/** docs/reference/svc-devnet.md */
export function renderDevnetCommandLine() {
  const program = createDevnet(none)
  return `<!-- Generated from packages/devnet/src/command-line.ts by \`npm run gen\`. Do not edit. -->

# Command line of the local network

\`npm run devnet -- OPTIONS\` starts the network alone; \`npm start -- OPTIONS\` also buys from its shop. Both write
\`.devnet/network.json\` for programs, and \`.devnet/env\` for a shell: \`set -a; . .devnet/env; set +a\`.

${sectionsOf(program, 2, '').join('\n')}`
}

/** docs/reference/svc-pay.md */
export function renderPayCommandLine() {
  const nowhere = { write: () => true }
  const io = { stdout: nowhere, stderr: nowhere, terminal: undefined, isColoured: false }
  const program = createPayer({ version: '', environment: {}, io, stdin: nowhere, end: () => undefined })
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
