import {
  environmentVariables,
  historyVariables,
  keysOfOtherPrograms,
} from '../../packages/facilitator/dist/config/secrets/environment.js'

const otherKeys = keysOfOtherPrograms.map((name) => `\`${name}\``).join(' and ')
const row = (cells) => `| ${cells.join(' | ')} |`

/** docs/reference/environment.md */
export function renderEnvironment() {
  const rowsOf = (variables) =>
    variables
      .map(({ name, required, allowed, about }) => row([`\`${name}\``, required, allowed, about]))
      .join('\n')
  return `<!-- Generated from packages/facilitator/src/config/secrets/environment.ts by \`npm run gen\`. Do not edit. -->

# Environment of the facilitator

Secrets come only from the environment. They appear in no log line, no error and no diagnostic report of Node. The daemon
removes them from its own environment when it starts, so that its threads and child processes do not inherit them. It also
removes every variable of the payment history (below), and ${otherKeys} of our other programs, in case they are in the same
file.

The kernel's copy from the start remains: the daemon's user and root can read it in \`/proc/PID/environ\` and in a core
dump. Run the daemon as a user of its own and switch core dumps off, as \`deploy/svc-facilitator.service\` does.

| variable | required | allowed | use |
|---|---|---|---|
${rowsOf(environmentVariables)}

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

Optional; [payment history](../guides/payment-history.md) says how to turn it on. An empty variable counts as one that is
not set. A relative path starts at the working directory of the daemon.

| variable | needed for | allowed | use |
|---|---|---|---|
${rowsOf(historyVariables)}

- **History group**: all of it, or no history. While a part of it is missing, the history is not attached: the paths under
  \`/history\` answer 404, and one warning names what is missing.
- **Issuer group**: all of it, or none. A part of it keeps the daemon from starting, also without a history, and every
  missing or unreadable piece is named. \`HISTORY_ISSUER_ID\`, \`HISTORY_ISSUER_KEY_ID\` and \`HISTORY_PROOF_TTL_SECONDS\` count
  only with the whole group; without it they are ignored, with a warning.
- **Wallet login** needs both addresses. With one there is none, and a warning says so.
- A value that is not allowed keeps the daemon from starting, if its group is complete.
- A variable that begins with \`HISTORY_\` and is not in the table is ignored, with a warning.

\`svc-facilitator check\` says all of this, and looks at the files and folders.
`
}
