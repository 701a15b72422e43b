import {
  environmentVariables,
  keysOfOtherPrograms,
} from '../../packages/facilitator/dist/config/environment.js'

const otherKeys = keysOfOtherPrograms.map((name) => `\`${name}\``).join(' and ')
const row = (cells) => `| ${cells.join(' | ')} |`

/** docs/reference/environment.md */
export function renderEnvironment() {
  const rows = environmentVariables.map(({ name, required, allowed, about }) =>
    row([`\`${name}\``, required, allowed, about]),
  )
  return `<!-- Generated from packages/facilitator/src/config/environment.ts by \`npm run gen\`. Do not edit. -->

# Environment of the facilitator

Secrets come from the environment and from nowhere else. They are in no log line, no error and no diagnostic report of
Node, and the daemon takes them out of its own environment when it starts, so that no thread or process it starts
inherits them. The same happens to every variable of the payment history (below), and to ${otherKeys} of our other
programs, should they stand in the same file.

What the kernel was given at the start cannot be taken back: \`/proc/PID/environ\` shows it to the daemon's user and to
root, and so does a core dump. Run the daemon as a user of its own, and switch core dumps off, as
\`deploy/svc-facilitator.service\` does.

| variable | required | allowed | use |
|---|---|---|---|
${rows.join('\n')}

There is no precedence between environment and file, because nothing can stand in both.

## Well-known development keys

Keys that everybody knows are accepted, with a warning, only when all four hold; otherwise the start aborts:

1. \`profile = "local"\`
2. \`listen.host\` is loopback
3. the host of \`network.rpc_url\` is loopback
4. \`network.chain_id = 31337\`

Well known are the accounts of the mnemonics that Hardhat, Foundry, Ganache, Truffle, Besu and Moonbeam print, some
single keys of development networks, and every key that is easy to guess: small numbers, numbers close to the order
of the curve, and short patterns repeated.

## Payment history

\`PAYMENT_HISTORY_PATH\` and the variables that begin with \`HISTORY_\` belong to the payment history, which is not
available in this version. They are ignored with a warning.
`
}
