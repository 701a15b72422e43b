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

Secrets come only from the environment. They appear in no log line, no error and no diagnostic report of Node. The daemon
removes them from its own environment when it starts, so that its threads and child processes do not inherit them. It also
removes every variable of the payment history (below), and ${otherKeys} of our other programs, in case they are in the same
file.

The kernel's copy from the start remains: the daemon's user and root can read it in \`/proc/PID/environ\` and in a core
dump. Run the daemon as a user of its own and switch core dumps off, as \`deploy/svc-facilitator.service\` does.

| variable | required | allowed | use |
|---|---|---|---|
${rows.join('\n')}

Environment and file need no precedence, because no setting can be in both.

## Well-known development keys

Publicly known keys are accepted, with a warning, only if all four conditions hold. Otherwise the start fails:

1. \`profile = "local"\`
2. \`listen.host\` is loopback
3. the host of \`network.rpc_url\` is loopback
4. \`network.chain_id = 31337\`

These keys are: the accounts of the mnemonics that Hardhat, Foundry, Ganache, Truffle, Besu and Moonbeam print, some single
keys of development networks, and every key that is easy to guess (small numbers, numbers close to the order of the curve,
and repeated short patterns).

## Payment history

\`PAYMENT_HISTORY_PATH\` and the variables that begin with \`HISTORY_\` belong to the payment history, which is not
available in this version. They are ignored with a warning.
`
}
