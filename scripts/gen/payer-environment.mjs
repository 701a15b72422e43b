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

The operator of a payer decides here, and nowhere else, what it may spend. Nothing that a seller sends and no argument of
a tool changes any of it. A policy file (\`SVC_POLICY_FILE\`) can only be tighter.

| variable | default | form | meaning |
|---|---|---|---|
${rows.join('\n')}

- A value that cannot be read stops the program with the variable, the fault and the form wanted. Every fault is told
  at once. An empty value is a fault, never a default: an empty cap would otherwise be no cap.
- A name that begins with \`SVC_\` and stands in no table is warned about, with the nearest name that does. Variables of
  our other programs (${others}) are left alone.
- Keys are in no output, log, error or tool result. The program takes them out of its own environment when it starts, so
  that no process it starts inherits them. The kernel's copy stays: \`/proc/PID/environ\` shows it to the same user and to
  root.
- Amounts are in base units of the token: 1 token with 6 decimals is \`1000000\`.

## Hosts

\`SVC_ALLOWED_HOSTS\` names hosts exactly. There are no patterns. A host without a port allows all its ports. Hosts are
compared as URLs write them: capitals, a trailing dot, other spellings of an IPv4 address and Unicode names make no
difference. IPv6 addresses stand with or without brackets; with a port they need them. A URL with a name or password before
the host is never requested, whatever is allowed.
`
}
