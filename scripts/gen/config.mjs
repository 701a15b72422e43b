import { rules } from '../../packages/facilitator/dist/config/rules.js'
import { configTables } from '../../packages/facilitator/dist/config/schema.js'

const source = 'packages/facilitator/src/config/schema.ts'
const row = (cells) => `| ${cells.join(' | ')} |`

const presence = ({ presence, default: value }) =>
  presence === 'default' ? `\`${value}\`` : presence === 'required' ? '**required**' : 'unset'

const header = (name, { repeated }) => (repeated ? `[[${name}]]` : `[${name}]`)

/** docs/reference/config.md */
export function renderConfigReference() {
  const sections = configTables.map(({ name, about, keys, ...table }) => {
    const rows = keys.map((key) => row([`\`${key.path}\``, presence(key), key.allowed, key.about]))
    return `## ${name === '' ? 'Above the first table' : `\`${header(name, table)}\``}

${about === '' ? '' : `${about}\n\n`}| key | default | allowed | meaning |
|---|---|---|---|
${rows.join('\n')}
`
  })
  return `<!-- Generated from ${source} by \`npm run gen\`. Do not edit. -->

# Configuration file

\`svc-facilitator\` reads one TOML file, given with \`--config\`. There is no default network, contract or treasury: every
key marked **required** must be given. A commented file to start from: [facilitator.sample.toml](../../packages/facilitator/facilitator.sample.toml).
Private keys and tokens are never in the file; they come from the [environment](environment.md).

\`svc-facilitator check --config FILE\` reports every mistake with its key, its value, the allowed values and its line. An
unknown key is a warning with the name that was probably meant. An unknown key that looks like a secret is an error.
\`svc-facilitator config --config FILE\` prints the configuration that the daemon would use, defaults included.

${sections.join('\n')}
## Rules between keys

- \`network.chain_id\` equals the chain id of the RPC.
- A \`listen.host\` that other machines can reach needs \`SVC_ADMIN_TOKEN\`; so does every \`profile\` but \`local\`.
${rules.map(({ text }) => `- ${text}`).join('\n')}
- A relative \`settlement.journal\` starts at the folder of the configuration file, wherever the daemon is started.
`
}

/** packages/facilitator/facilitator.sample.toml */
export function renderSampleConfig() {
  const parts = configTables.map(({ name, about, optional, keys, ...table }) => {
    const top = name === '' ? [] : [...comment(about), `${optional ? '# ' : ''}${header(name, table)}`]
    const lines = keys.flatMap((key) => [
      ...comment(`${plain(key.about)} ${condition(key)}`),
      `${isComment(key, optional) ? '# ' : ''}${key.name} = ${key.sample}`,
      '',
    ])
    return [...top, ...lines].join('\n')
  })
  return `# Configuration of svc-facilitator, with every key. Generated from ${source}.
#
# Lines that begin with "# key = " show defaults and optional keys. Keys and tokens come from the environment:
# SVC_TREASURY_PK, SVC_RELAYER_PK, SVC_ADMIN_TOKEN. The addresses below are placeholders.

${parts.join('\n')}`
}

/** Optional keys that the sample sets. The others are commented out. */
const usual = new Set(['profile', 'settlement.permit_burner'])

const isComment = ({ path, presence }, optional) =>
  optional || presence === 'default' || (presence === 'optional' && !usual.has(path))

const condition = ({ presence, allowed, default: value }) =>
  presence === 'default'
    ? `Default ${value}; ${allowed}.`
    : `${presence === 'required' ? 'Required' : 'Optional'}: ${allowed}.`

const plain = (text) => text.replaceAll('`', '')

const columns = 100

/** The text as comment lines. */
function comment(text) {
  const lines = ['#']
  for (const word of plain(text).split(/\s+/)) {
    const line = `${lines.at(-1)} ${word}`
    if (line.length <= columns) lines[lines.length - 1] = line
    else lines.push(`# ${word}`)
  }
  return lines
}
