import { otherPrograms, variables } from '../../packages/payer/dist/environment/variables.js'

const row = (cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`

/** docs/reference/payer-environment.md */
export function renderPayerEnvironment() {
  const rows = Object.entries(variables).map(([name, { form, fallback, unset, about }]) =>
    row([`\`${name}\``, fallback === undefined ? `unset: ${unset}` : `\`${fallback}\``, form.wanted, about]),
  )
  const others = otherPrograms.map((name) => `\`${name}\``).join(', ')
  return `<!-- Generated from packages/payer/src/environment/variables.ts by \`npm run gen\`. Do not edit. -->

# Environment of the payer

These variables alone decide what a payer may spend. Nothing that a seller sends, and no argument of a tool, can change
them.

| variable | default | form | meaning |
|---|---|---|---|
${rows.join('\n')}

- An invalid value stops the program. The error names the variable, the fault and the required form, for all faults at
  once. An empty value is a fault, never a default: otherwise an empty cap would mean no cap.
- An unknown name that begins with \`SVC_\` causes a warning with the nearest known name. Variables of our other programs
  (${others}) are ignored.
- Keys appear in no output, log, error or tool result. The program removes them from its own environment when it starts, so
  that its child processes do not inherit them. The kernel's copy remains: the same user and root can read it in
  \`/proc/PID/environ\`.
- Amounts are in base units of the token: 1 token with 6 decimals is \`1000000\`.

## Hosts

\`SVC_ALLOWED_HOSTS\` names hosts exactly. There are no patterns. A host without a port allows all its ports. Hosts are
compared as URLs write them: capitals, a trailing dot, other spellings of an IPv4 address and Unicode names make no
difference. IPv6 addresses are written with or without brackets; with a port they need them. A URL with a user name or
password is never requested, whatever is allowed.
`
}
